import { measured } from '../../lib/clock.ts'
import type { GatewayError } from '../../lib/errors.ts'
import { isoTime } from '../../lib/iso-time.ts'
import type { Usage } from '../../modes/usage.ts'
import type { CallFinished, Ending } from '../../telemetry/events.ts'
import type { Attempt, Call } from '../call.ts'
import { tagsOf } from '../request/tags.ts'
import { traceOf } from '../request/trace.ts'
import { addUsage } from './add-usage.ts'
import { attemptFinished } from './attempt-finished.ts'
import type { Bill } from './bill.ts'

/** When a call ended, and whether it will run again. */
export interface End {
  /** Milliseconds since 1970. */
  readonly now: number
  /** By `performance.now()`. */
  readonly endedAt: number
  readonly repeats: boolean
}

/** A finished call as events tell of it. */
export function callFinished(
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
    // Stored vectors without the others are no answer.
    savedNano: ending === 'failed' ? 0 : (call.cache?.savedNano ?? 0),
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

/** The combined usage of all attempts that contributed to the answer. */
function inAll({ attempts }: Call): Usage | undefined {
  return attempts.reduce<Usage | undefined>((sum, { usage, lostHedge }) => {
    if (!usage || lostHedge) return sum
    return sum ? addUsage(sum, usage) : usage
  }, undefined)
}

/** The attempt whose answer the client saw, or the last one. */
export function servedBy(call: Call): Attempt | undefined {
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
