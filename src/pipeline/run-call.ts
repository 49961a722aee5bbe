import { asGatewayError, type GatewayError, withHeaders } from '../lib/errors.ts'
import { newTimedId } from '../lib/ids.ts'
import { atMost } from '../lib/timers/at-most.ts'
import { strictly, within } from '../stores/kv/deadline.ts'
import { type AdmittedCall, admitCall, type CallIds } from './admit/admit-call.ts'
import { withSoftLimit } from './admit/hold.ts'
import { startLeaseRenewal } from './admit/lease-renewal.ts'
import type { Answer } from './answer.ts'
import type { Committed } from './attempt/attempt.ts'
import { failover } from './attempt/failover.ts'
import { fromCache } from './cache/from-cache.ts'
import { replay } from './cache/replay.ts'
import { type Call, newAttemptId } from './call.ts'
import type { CallInput } from './call-input.ts'
import { isAwaited } from './ids/made-ids.ts'
import { explained } from './plan/explain.ts'
import { answerAhead } from './respond/answer-ahead.ts'
import { estimated, foundNoRoute } from './respond/estimated.ts'
import { answer, answerLater, routeHeaders } from './respond/respond.ts'
import type { PipelineServices } from './services.ts'
import { finish } from './settle/finish.ts'
import { runWithTools } from './tools/run-with-tools.ts'

/** How long an answer waits for its call to be settled, at most. Time in which this process is too busy to settle it does
 *  not count, within bounds. */
const SETTLE_WAIT = strictly(300)

/** Runs one model call from its bytes to its answer. A call that has begun is always reported, however it ends. */
export function runCall(services: PipelineServices, input: CallInput): Promise<Answer> {
  return run(services, input, { callId: input.batch?.callId ?? newTimedId('call'), attemptId: newAttemptId() })
}

/** `following`: the second part of a call whose stream began while it still waited for an identical call. */
async function run(
  services: PipelineServices,
  input: CallInput,
  ids: CallIds,
  following?: Promise<AdmittedCall>,
): Promise<Answer> {
  let admittedCall: AdmittedCall
  try {
    const admitting = following ?? admitCall(services, input, ids)
    admittedCall = admitting instanceof Promise ? await admitting : admitting
    if (admittedCall.cacheUse && !following) {
      const { rateHeaders } = admittedCall
      const looking = fromCache(services, input, ids, admittedCall)
      const found = await lookInTime(services, admittedCall, looking)
      if (found === 'silent')
        return answerAhead(services, input, rateHeaders, (ahead) => run(services, ahead, ids, looking))
      admittedCall = found
    }
  } catch (error) {
    input.form?.raw.close()
    throw error
  }

  const call = begin(services, input, ids, admittedCall)
  const { promise: finished, resolve: resolveFinished } = Promise.withResolvers<void>()
  let stopRenewal = () => {}
  let over = false
  let settling: Promise<void> | undefined
  const end = (failure: GatewayError | undefined): Promise<unknown> | undefined => {
    if (!over) {
      over = true
      stopRenewal()
      settling = finish(services, call, failure)
      resolveFinished(settling)
      call.form?.raw.close()
    }
    // A client that has its answer may call again at once: that call must not be refused for what this one still holds,
    // and may reference what this one created.
    if (!settling || !isAwaited(call)) return undefined
    return within(SETTLE_WAIT, settling, undefined, services.timers).catch(() => {})
  }
  // From here on the call holds what admission reserved, so every path must lead through `end`.
  try {
    // Deferred before the upstream is asked: if the client leaves, only deferred work still runs.
    call.client.defer(finished)
    input.begun()
    if (call.spentBefore) services.budgetNotices.passed(call.client, call.spentBefore)
    if (call.cache?.hit) return await replay(services, call, call.cache.hit, end)
    stopRenewal = startLeaseRenewal(services, call)
    const { plan, tools } = admittedCall
    const estimating = plan.estimated && estimated(services, call, end)
    if (estimating) return await estimating
    const committing = tools ? runWithTools(services, call, plan, tools) : failover(services, call, plan)
    const committed = await inTime(committing, call, services)
    if (committed === 'silent') return answerLater(services, call, committing, end)
    const why = call.explain ? await explained(services, call) : undefined
    const answering = answer(services, call, committed, end)
    const answered = answering instanceof Promise ? await answering : answering
    return why ? { ...answered, headers: { ...answered.headers, ...why } } : answered
  } catch (error) {
    const estimating = foundNoRoute(call) ? estimated(services, call, end) : undefined
    if (estimating) return await estimating
    const failure = asGatewayError(error)
    await end(failure)
    throw withHeaders(failure, { ...routeHeaders(call), ...(await explained(services, call)) })
  }
}

/** Resolves with the commit of a call, or with 'silent' if a stream does not commit within the keep-alive interval. */
function inTime(committing: Promise<Committed>, call: Call, services: PipelineServices): Promise<Committed | 'silent'> {
  const { dialect, mode } = call.endpoint
  return call.streamed && (dialect || mode.tokenless) ? orSilent(committing, services) : committing
}

/** Resolves with what the cache has for a call, or with 'silent' when a stream has followed an identical call for the
 *  keep-alive interval. */
function lookInTime(
  services: PipelineServices,
  { request, admitted }: AdmittedCall,
  looking: Promise<AdmittedCall>,
): Promise<AdmittedCall | 'silent'> {
  const follows = request.stream === true && admitted.cached?.state === 'follow'
  return follows ? orSilent(looking, services) : looking
}

/** Resolves with the result of some work, or with 'silent' after the keep-alive interval. */
function orSilent<T>(work: Promise<T>, { config, timers }: PipelineServices): Promise<T | 'silent'> {
  const limitMs = 1000 * config.router_settings.stream_keep_alive
  return atMost(limitMs, work, timers).then((done) => (done ? done.value : 'silent'))
}

function begin(
  services: PipelineServices,
  input: CallInput,
  { callId: id, attemptId }: CallIds,
  admittedCall: AdmittedCall,
): Call {
  const { caller, bounds, request, bytes, prompt, plan, memory, writtenFor } = admittedCall
  const { admitted, rateHeaders, slots, holds } = admittedCall
  // Listed field by field, so that every call has one hidden class and no input object is copied.
  return {
    requestId: input.requestId,
    arrivedAt: input.arrivedAt,
    caller,
    address: input.address,
    client: input.client,
    footprint: input.footprint,
    endpoint: input.endpoint,
    bytes,
    writtenFor,
    turn: 1,
    toolCalls: undefined,
    form: input.form,
    clientHeaders: input.clientHeaders,
    hops: input.hops,
    explain: input.explain,
    strict: input.strict,
    noLog: input.noLog,
    traceparent: input.traceparent,
    batch: input.batch,
    begun: input.begun,
    bounds,
    prompt,
    made: undefined,
    memory,
    id,
    request,
    group: plan.group,
    cache: admittedCall.cache,
    servedGroup: plan.group.name,
    rateHeaders,
    slots,
    holds,
    spentBefore: withSoftLimit(admittedCall.budgets, admitted.spentNano),
    streamed: request.stream === true,
    deadline: input.arrivedAt + 1000 * plan.settings.totalTimeoutSeconds,
    plans: [],
    attempts: [],
    hedged: false,
    settling: undefined,
    unused: admitted.reserved ? [{ attemptId, ...admitted.reserved, retry: false }] : [],
    overheadMs: undefined,
    recording: services.content.open(caller, input.noLog),
    usage: undefined,
    outputCharacters: 0,
    malformedEvents: 0,
  }
}
