import { measured } from '../../lib/clock.ts'
import type { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { isoTime } from '../../lib/iso-time.ts'
import { describeError } from '../../lib/log.ts'
import type { Usage } from '../../modes/usage.ts'
import type { DeploymentOutcome } from '../../stores/kv/deployment-signals.ts'
import type { Settlement } from '../../stores/kv/shared-store.ts'
import type { CallFinished, Ending, FallbackEvent } from '../../telemetry/events.ts'
import { leftBy, settleWith } from '../cache/keep.ts'
import type { Attempt, Call } from '../call.ts'
import { keptIds } from '../ids/made-ids.ts'
import { keepAnswer } from '../memory/remember.ts'
import { tagsOf } from '../request/tags.ts'
import { traceOf } from '../request/trace.ts'
import type { PipelineServices } from '../services.ts'
import { addUsage } from './add-usage.ts'
import { attemptFinished } from './attempt-finished.ts'
import { type Bill, billOf, unbilled } from './bill.ts'
import { contentOf } from './content-of.ts'
import { learnUsual } from './learn-usual.ts'
import { outcome, unusedPlace } from './outcome.ts'
import { settleInOrder } from './settle-in-order.ts'
import { usedByLast } from './used.ts'

const FALLBACK_EVENTS_KEPT = 1000

/** Ends a call: reports it and settles what it held. Resolves when that is settled; undefined if it is at once. Never
 *  rejects. */
export function finish(
  services: PipelineServices,
  call: Call,
  failure: GatewayError | undefined,
): Promise<void> | undefined {
  const now = services.clock.now()
  const endedAt = performance.now()
  const last = call.attempts.at(-1)
  if (last) last.endedAt ??= endedAt
  // A settled attempt has ended well: the call failed after its turn.
  if (last && failure && !last.settled) last.failure ??= failure
  const { batch } = call
  const again = batch !== undefined && failure !== undefined && trying(services, call, () => batch.repeats(failure))
  const bill = billed(services, call, failure, again === true)
  // A try that cost something is final: the item is never paid twice.
  const repeats = again === true && bill.costNano === 0
  report(services, call, failure, bill, { now, endedAt, repeats })
  if (call.cache?.hit) {
    // It holds nothing that had to be released.
    services.flushCounters(call.client)
    return undefined
  }
  const settlement = () => settlementOf(services, call, bill, repeats)
  const left = call.cache && trying(services, call, () => leftBy(services, call, failure, bill.costNano))
  const settle = () => (left ? settleWith(services, call, left, settlement) : settleInOrder(services, call, settlement))
  return call.memory?.answer ? keepAnswer(services, call).then(settle) : settle()
}

const FREE: Bill = { costNano: 0, attemptsNano: [], charges: [], budgets: [] }

/** The bill of a call that has ended, with the usage of its last attempt. `again`: its item will be tried again. */
function billed(services: PipelineServices, call: Call, failure: GatewayError | undefined, again: boolean): Bill {
  if (call.cache?.hit) return FREE
  try {
    const last = call.attempts.at(-1)
    if (last?.asked && !(again && isSilent(call))) last.usage ??= usedByLast(services, call, failure)
    return billOf(services.registry, call, services.storeClock.now())
  } catch (error) {
    logFailed(services, call, error)
    return unbilled(call)
  }
}

/** When a call ended, and whether it will run again. */
interface End {
  /** Milliseconds since 1970. */
  readonly now: number
  /** By `performance.now()`. */
  readonly endedAt: number
  readonly repeats: boolean
}

/** Tells of the call, and learns from it. */
function report(services: PipelineServices, call: Call, failure: GatewayError | undefined, bill: Bill, end: End): void {
  try {
    const content = call.recording && trying(services, call, () => contentOf(call))
    const event = finished(call, failure, bill, end)
    const { batch } = call
    if (batch) trying(services, call, () => batch.finished(event))
    services.telemetry.emit(event, content)
    if (call.spentBefore) services.budgetNotices.passed(call.client, call.spentBefore, bill.budgets)
    reportDropped(services, call)
    learnUsual(services, call)
  } catch (error) {
    logFailed(services, call, error)
  }
}

/** Whether nothing of an answer has arrived. What such a call cost is estimated if it was given up, but not if it is
 *  repeated: as after a crash, only the repetition is paid. */
function isSilent({ usage, outputCharacters }: Call): boolean {
  return usage === undefined && outputCharacters === 0
}

/** Counts the hints that were left out for the provider of the answer. */
function reportDropped({ telemetry }: PipelineServices, call: Call): void {
  const served = servedBy(call)
  if (!served?.dropped) return
  const { kind: provider } = served.deployment.provider
  const { path: endpoint } = call.endpoint
  for (const field of served.dropped) telemetry.emit({ type: 'field.dropped', endpoint, provider, field })
}

/** Runs a reporting step and logs its failure: a failed report must not prevent the settlement. */
function trying<T>(services: PipelineServices, call: Call, what: () => T): T | undefined {
  try {
    return what()
  } catch (error) {
    logFailed(services, call, error)
    return undefined
  }
}

function logFailed({ log }: PipelineServices, { id: callId }: Call, error: unknown): void {
  log.error('finish.failed', { callId, error: describeError(error) })
}

/** The combined usage of all attempts that contributed to the answer. */
function inAll({ attempts }: Call): Usage | undefined {
  return attempts.reduce<Usage | undefined>((sum, { usage, lostHedge }) => {
    if (!usage || lostHedge) return sum
    return sum ? addUsage(sum, usage) : usage
  }, undefined)
}

/** The attempt whose answer the client saw, or the last one. */
function servedBy(call: Call): Attempt | undefined {
  return call.attempts.findLast((one) => isSeen(call, one)) ?? call.attempts.at(-1)
}

/** Whether an attempt has begun what the client gets: earlier turns were for the gateway. */
function isSeen({ turn }: Call, one: Attempt): boolean {
  return one.turn === turn && one.firstTokenAt !== undefined
}

function endingOf(call: Call, failure: GatewayError | undefined): Ending {
  if (!failure) return 'answered'
  if (failure.failure === 'client_closed') return 'client_closed'
  return call.attempts.some((one) => isSeen(call, one)) ? 'truncated' : 'failed'
}

function finished(
  call: Call,
  failure: GatewayError | undefined,
  bill: Bill,
  { now, endedAt, repeats }: End,
): CallFinished {
  const { caller } = call
  const served = servedBy(call)
  // The client waited for the first token of the first attempt that answered, even if another continued the answer.
  const begun = call.attempts.find((one) => isSeen(call, one))?.firstTokenAt
  const ending = endingOf(call, failure)
  return {
    type: 'call.finished',
    at: isoTime(now),
    requestId: call.requestId,
    callId: call.id,
    batchId: call.batch?.batchId ?? '',
    prompt: call.prompt,
    repeats,
    endpoint: call.endpoint.path,
    mode: call.endpoint.mode.name,
    requestedModel: call.request.model,
    model: call.servedGroup,
    deployment: served?.deployment.id ?? call.cache?.hit?.deployment ?? '',
    provider: served?.deployment.provider.kind ?? call.cache?.hit?.provider ?? '',
    keyId: caller.keyId ?? caller.kind,
    teamId: caller.teamId ?? '',
    organizationId: caller.organizationId ?? '',
    userId: caller.userId ?? '',
    tags: tagsOf(call.request),
    trace: traceOf(call.request, call.traceparent),
    streamed: call.streamed,
    ending,
    // The status that the client saw: a stream's status line was sent before it was cut.
    status: ending === 'truncated' ? 200 : (failure?.status ?? 200),
    errorType: failure?.row.type ?? '',
    usage: call.cache?.hit ? call.usage : inAll(call),
    costNano: bill.costNano,
    heldNano: heldFor(call),
    savedNano: call.cache?.savedNano ?? 0,
    cache: call.cache ? (call.cache.hit ? 'hit' : 'miss') : 'off',
    charges: bill.charges,
    attempts: call.attempts.length,
    tried: call.attempts.map((attempt, index) => attemptFinished(call, attempt, bill.attemptsNano[index])),
    tools: call.toolCalls ?? NO_TOOLS,
    rescuedFrom: rescuedFrom(call, served),
    malformedEvents: call.malformedEvents,
    overheadMs: measured(call.overheadMs ?? endedAt - call.arrivedAt - (call.cache?.waitedMs ?? 0)),
    firstTokenMs: begun === undefined ? undefined : measured(begun - call.arrivedAt),
    upstreamMs: served?.endedAt === undefined ? undefined : measured(served.endedAt - served.startedAt),
    totalMs: measured(endedAt - call.arrivedAt),
  }
}

/** The most that one account held for the call. */
function heldFor({ holds }: Call): number | undefined {
  let most = 0
  for (const { subject } of holds) {
    let nano = 0
    // A dearer fallback adds to what the account holds.
    for (const hold of holds) if (hold.subject === subject) nano += hold.holdNano
    most = Math.max(most, nano)
  }
  return most || undefined
}

/** The deployments whose answers broke off and were continued elsewhere. */
function rescuedFrom(call: Call, served: Attempt | undefined): string[] {
  return call.attempts.flatMap((one) => (one !== served && isSeen(call, one) ? one.deployment.id : []))
}

const NO_TOOLS: CallFinished['tools'] = []

function settlementOf(services: PipelineServices, call: Call, { budgets }: Bill, repeats: boolean): Settlement {
  return {
    callId: call.id,
    // The item may run again under the call's id.
    id: repeats ? newId('settlement') : undefined,
    slots: call.slots,
    budgets,
    outcomes: outcomes(services, call),
    counters: trying(services, call, services.telemetry.settledCounters) ?? {},
    values: call.memory?.value ?? (call.made && trying(services, call, () => keptIds(call))) ?? [],
    entries: call.attempts.length < 2 ? [] : (trying(services, call, () => entriesOf(services, call)) ?? []),
  }
}

function entriesOf(services: PipelineServices, call: Call): Settlement['entries'] {
  return fallbackEvents(services, call).map(entryOf)
}

function outcomes(services: PipelineServices, call: Call): DeploymentOutcome[] {
  const told: DeploymentOutcome[] = []
  for (const attempt of call.attempts) if (!attempt.settled) told.push(outcome(services, call, attempt))
  for (const reserved of call.unused) told.push(unusedPlace(services, reserved))
  return told
}

function entryOf(event: FallbackEvent): Settlement['entries'][number] {
  return { log: 'fallback-events', text: JSON.stringify(event), keep: FALLBACK_EVENTS_KEPT }
}

/** One event for each failed attempt that was followed by another; successful if the next attempt was. */
function fallbackEvents(services: PipelineServices, call: Call): FallbackEvent[] {
  const tried = call.attempts.filter(({ lostHedge }) => !lostHedge)
  return tried.slice(0, -1).flatMap(({ failure, deployment, turn }, index) => {
    const next = tried[index + 1] as Attempt
    // A turn that was answered is followed by the next one.
    if (next.turn !== turn) return []
    return {
      timestamp: isoTime(services.clock.now()),
      source_model: deployment.modelName,
      target_model: next.deployment.modelName,
      call_id: call.id,
      error_classification: failure?.row.classification ?? 'provider_error',
      success: next.failure === undefined,
    }
  })
}
