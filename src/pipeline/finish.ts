import type { FailureName, GatewayError } from '../lib/errors.ts'
import { describeError } from '../lib/log.ts'
import { estimatedUsage, type Usage, usageOf } from '../modes/usage.ts'
import type { DeploymentOutcome } from '../stores/kv/deployment-signals.ts'
import type { Settlement } from '../stores/kv/shared-store.ts'
import type { AttemptFinished, CallFinished, Ending, FallbackEvent } from '../telemetry/events.ts'
import { addUsage } from './add-usage.ts'
import { type Bill, billOf, costOfAttempt } from './bill.ts'
import { type Attempt, type Call, requestBytes } from './call.ts'
import type { PipelineServices } from './pipeline.ts'
import { tagsOf } from './tags-of.ts'

const FALLBACK_EVENTS_KEPT = 1000

/** Ends a call: tells everybody what it was, and settles what it held. Never rejects. */
export async function finish(services: PipelineServices, call: Call, failure: GatewayError | undefined): Promise<void> {
  const last = call.attempts.at(-1)
  if (last) last.endedAt ??= performance.now()
  if (last && failure) last.failure ??= failure
  if (last) last.usage ??= usageOfLast(call, failure)
  const bill = billOf(call, services.clock.now())
  services.telemetry.emit(finished(services, call, failure, bill))
  learnUsual(services, call)
  try {
    await services.store.settle(settlement(services, call, bill))
  } catch (error) {
    services.log.warn('settle.failed', { callId: call.id, error: describeError(error) })
  }
}

/** What the next call of the same deployment is likely to use. */
function learnUsual({ usual }: PipelineServices, call: Call): void {
  for (const { deployment, usage, failure, outrun } of call.attempts) {
    if (usage && !failure && !outrun) usual.learn(deployment.id, requestBytes(call), usage)
  }
}

/** What ends an attempt while its provider works for it. */
const GIVEN_UP: readonly (FailureName | undefined)[] = ['client_closed', 'shutting_down']

/** What the provider reported, filled from what the request itself tells; what went out, estimated, where an answer was
 *  cut; nothing where none came. */
function usageOfLast(call: Call, failure: GatewayError | undefined): Usage | undefined {
  const { mode } = call.endpoint
  const measured = mode.measure(call.request)
  if (call.usage) return filled(call.usage, measured)
  const answered = failure === undefined || call.outputCharacters > 0
  // An attempt that had failed by itself before the client left, out of a pause, cost nothing.
  const pending = GIVEN_UP.includes(call.attempts.at(-1)?.failure?.failure)
  if (!answered && !pending) return undefined
  return mode.unit === 'tokens' ? estimatedUsage(call.bytes.byteLength, call.outputCharacters) : usageOf(measured)
}

/** Everything that the attempts of an answer have used: of one, unless others went on with it. */
function inAll({ attempts }: Call): Usage | undefined {
  return attempts.reduce<Usage | undefined>((sum, { usage, outrun }) => {
    if (!usage || outrun) return sum
    return sum ? addUsage(sum, usage) : usage
  }, undefined)
}

/** The attempt whose answer the client saw, else the last one. */
function servedBy({ attempts }: Call): Attempt | undefined {
  return attempts.findLast(({ firstTokenAt }) => firstTokenAt !== undefined) ?? attempts.at(-1)
}

function filled(usage: Usage, measured: Partial<Usage>): Usage {
  const missing = Object.entries(measured).filter(([kind]) => !usage[kind as keyof Usage])
  return missing.length === 0 ? usage : { ...usage, ...Object.fromEntries(missing) }
}

function endingOf(call: Call, failure: GatewayError | undefined): Ending {
  if (!failure) return 'answered'
  if (failure.failure === 'client_closed') return 'client_closed'
  return servedBy(call)?.firstTokenAt === undefined ? 'failed' : 'truncated'
}

function finished(services: PipelineServices, call: Call, failure: GatewayError | undefined, bill: Bill): CallFinished {
  const { caller } = call
  const served = servedBy(call)
  // What a client waited for is the first of them, whoever went on with it.
  const begun = call.attempts.find(({ firstTokenAt }) => firstTokenAt !== undefined)?.firstTokenAt
  const ending = endingOf(call, failure)
  return {
    type: 'call.finished',
    at: new Date(services.clock.now()).toISOString(),
    requestId: call.requestId,
    callId: call.id,
    endpoint: call.endpoint.path,
    mode: call.endpoint.mode.name,
    requestedModel: call.request.model,
    model: call.servedGroup,
    deployment: served?.deployment.id ?? '',
    provider: served?.deployment.provider.kind ?? '',
    keyId: caller.keyId ?? caller.kind,
    teamId: caller.teamId ?? '',
    organizationId: caller.organizationId ?? '',
    userId: caller.userId ?? '',
    tags: tagsOf(call.request),
    streamed: call.streamed,
    ending,
    // What the client saw: the status line of a stream went out before it was cut.
    status: ending === 'truncated' ? 200 : (failure?.status ?? 200),
    errorType: failure?.row.type ?? '',
    usage: inAll(call),
    costNano: bill.costNano,
    savedNano: 0,
    cache: 'off',
    charges: bill.charges,
    attempts: call.attempts.length,
    tried: call.attempts.map((attempt) => attemptFinished(call, attempt)),
    rescuedFrom: rescuedFrom(call, served),
    malformedEvents: call.malformedEvents,
    overheadMs: call.overheadMs ?? performance.now() - call.arrivedAt,
    firstTokenMs: begun === undefined ? undefined : begun - call.arrivedAt,
    upstreamMs: served?.endedAt === undefined ? undefined : served.endedAt - served.startedAt,
    totalMs: performance.now() - call.arrivedAt,
  }
}

/** The deployments whose answers broke off and were gone on with. */
function rescuedFrom({ attempts }: Call, served: Attempt | undefined): string[] {
  return attempts.flatMap((one) => (one !== served && one.firstTokenAt !== undefined ? one.deployment.id : []))
}

function attemptFinished(call: Call, one: Attempt): AttemptFinished {
  const { deployment, failure, startedAt, firstTokenAt, endedAt, usage } = one
  return {
    deployment: deployment.id,
    provider: deployment.provider.kind,
    result: resultOf(one),
    error: failure ? (failure.row.classification ?? failure.failure) : '',
    usage,
    costNano: costOfAttempt(call, one),
    firstTokenMs: firstTokenAt === undefined ? undefined : firstTokenAt - startedAt,
    totalMs: (endedAt ?? startedAt) - startedAt,
  }
}

function resultOf({ outrun, failure, firstTokenAt }: Attempt): AttemptFinished['result'] {
  if (outrun) return 'outrun'
  if (!failure) return 'answered'
  if (failure.failure === 'client_closed') return 'client_closed'
  return firstTokenAt === undefined ? 'failed' : 'cut'
}

function settlement(services: PipelineServices, call: Call, { budgets }: Bill): Settlement {
  return {
    callId: call.id,
    slots: call.slots,
    budgets,
    outcomes: [
      ...call.attempts.filter(({ settled }) => !settled).map((attempt) => outcome(services, call, attempt)),
      ...call.returned.map((lease) => returnedLease(services, lease)),
    ],
    counters: services.telemetry.settledCounters(),
    entries: fallbackEvents(services, call).map((event) => ({
      log: 'fallback-events',
      text: JSON.stringify(event),
      keep: FALLBACK_EVENTS_KEPT,
    })),
  }
}

/** What an attempt says of its deployment. */
export function outcome(services: PipelineServices, call: Call, attempt: Attempt): DeploymentOutcome {
  const { failure } = attempt
  const lease = { attemptId: attempt.id, deployment: attempt.deployment.id, cooldown: cooldown(services) }
  const used = attempt.usage ? capacityOf(call, attempt.usage) : {}
  if (attempt.outrun) return { ...lease, result: 'neutral', used }
  if (failure) {
    const blamed = failure.row.blames === 'deployment'
    return {
      ...lease,
      result: blamed ? 'failed' : 'neutral',
      used,
      error: failure.row.classification ?? failure.failure,
    }
  }
  const end = attempt.endedAt ?? attempt.startedAt
  return {
    ...lease,
    result: 'succeeded',
    used,
    latencyMs: end - attempt.startedAt,
    firstTokenMs: (attempt.firstTokenAt ?? end) - attempt.startedAt,
  }
}

/** A reservation that was not used says nothing. */
export function returnedLease(services: PipelineServices, lease: Call['returned'][number]): DeploymentOutcome {
  return { ...lease, result: 'neutral', used: {}, cooldown: cooldown(services) }
}

function capacityOf({ endpoint }: Call, usage: Usage): DeploymentOutcome['used'] {
  const { unit } = endpoint.mode
  const tokens = usage.inputTokens + usage.outputTokens
  // Requests were counted when the deployment was reserved.
  return unit === 'tokens' || unit === 'requests' ? { tokens } : { tokens, [unit]: usage[unit] }
}

/** What a failure costs a deployment. */
export function cooldown({ config }: PipelineServices): DeploymentOutcome['cooldown'] {
  const { allowed_fails, cooldown_time } = config.router_settings
  return { allowedFails: allowed_fails, seconds: cooldown_time }
}

/** One for each failed attempt that led to another; it succeeded when that other one did. */
function fallbackEvents(services: PipelineServices, call: Call): FallbackEvent[] {
  const tried = call.attempts.filter(({ outrun }) => !outrun)
  return tried.slice(0, -1).map(({ failure, deployment }, index) => {
    const next = tried[index + 1] as Attempt
    return {
      timestamp: new Date(services.clock.now()).toISOString(),
      source_model: deployment.modelName,
      target_model: next.deployment.modelName,
      error_classification: failure?.row.classification ?? 'provider_error',
      success: next.failure === undefined,
    }
  })
}
