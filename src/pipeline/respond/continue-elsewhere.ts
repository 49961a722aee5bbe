import { asGatewayError, GatewayError } from '../../lib/errors.ts'
import { describeError } from '../../lib/log.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import type { AnswerSoFar } from '../attempt/answer-so-far.ts'
import { attempt, type OpenStream } from '../attempt/attempt.ts'
import { settleEnded } from '../attempt/settle-ended.ts'
import { startAttempt } from '../attempt/start-attempt.ts'
import type { Attempt, Call } from '../call.ts'
import type { ClientStream } from '../client.ts'
import { type ContinuationTarget, continuationTargets, refusesPrefix } from '../plan/continuation-targets.ts'
import { learnSignals } from '../plan/learn-signals.ts'
import type { Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { usedByCut } from '../settle/attempt-usage.ts'
import { inChunks } from '../translate/in-chunks.ts'
import type { WrittenReader } from '../translate/written-reply.ts'
import { continuedRequest } from './continued-request.ts'
import { continuedStream } from './continued-stream.ts'
import { KEEP_ALIVE } from './keep-alive.ts'

const MAX_CONTINUATIONS = 3

/** Continues an answer that failed after it began with another deployment. Resolves with undefined if none can; the
 *  client is then told of the failure. Never rejects. */
export type Continuation = (failure: GatewayError) => Promise<OpenStream | undefined>

/** Returns undefined for a stream that was not recorded because no deployment could continue it. */
export function continuationOf(
  services: PipelineServices,
  call: Call,
  { answerSoFar, reader: writer }: OpenStream,
  client: ClientStream,
): Continuation | undefined {
  if (!answerSoFar) return undefined
  let left = MAX_CONTINUATIONS
  const continueAnswer: Continuation = async (failure) => {
    const failed = call.attempts.at(-1)
    const possible = failure.row.retry && answerSoFar.continuable && writer.write && performance.now() < call.deadline
    if (!failed || !possible || left === 0) return undefined
    left -= 1
    const targets = continuationTargets(services, call, failed, failure)
    if (targets.length === 0) return undefined
    close(call, failed, failure)
    settleEnded(services, call)
    const quiet = showLife(call, client, services.config.router_settings.stream_keep_alive)
    try {
      return await continueWith(services, call, { targets, answerSoFar, writer })
    } finally {
      await quiet()
    }
  }
  return async (failure) => {
    try {
      return await continueAnswer(failure)
    } catch (error) {
      // For instance the store failed. The client gets the failure that ended its answer, not this one.
      services.log.warn('continuation.failed', { callId: call.id, error: describeError(error) })
      return undefined
    }
  }
}

/** Closes the failed attempt with its usage; the next attempt counts from zero. */
function close(call: Call, failed: Attempt, failure: GatewayError): void {
  failed.failure = failure
  failed.endedAt = performance.now()
  failed.usage = usedByCut(call, failed)
  call.usage = undefined
  call.outputCharacters = 0
}

async function continueWith(
  services: PipelineServices,
  call: Call,
  {
    targets,
    answerSoFar,
    writer,
  }: { targets: readonly ContinuationTarget[]; answerSoFar: AnswerSoFar; writer: WrittenReader },
): Promise<OpenStream | undefined> {
  for (const { deployment: target, plan } of targets) {
    if (call.client.signal.aborted || performance.now() >= call.deadline) return undefined
    const translator = inChunks(target, call.endpoint.mode)
    const from = call.attempts.at(-1)
    if (translator && !(await affords(services, call, plan, target))) continue
    const retry = call.attempts.some(({ deployment }) => deployment.id === target.id)
    if (retry && (await isDead(services, call, target))) continue
    const started = translator && (await startAttempt(services, call, plan, target, { retry }))
    if (!started) continue
    try {
      const outgoing = continuedRequest(call, started, answerSoFar.text())
      const committed = await attempt(services, call, started, { translator, outgoing })
      if (committed.kind !== 'stream') return undefined
      call.servedGroup = plan.group.name
      services.log.info('stream.continued', {
        callId: call.id,
        from: from?.deployment.id,
        to: target.id,
        because: from?.failure?.failure,
      })
      const reader = continuedStream(committed.stream.reader, { call, writer, answerSoFar })
      return { ...committed.stream, reader, backlog: reader.along(committed.stream.backlog) }
    } catch (error) {
      started.failure = asGatewayError(error)
      started.endedAt = performance.now()
      settleEnded(services, call)
      if (started.failure.failure === 'upstream_rejected') refusesPrefix(target)
    }
  }
  return undefined
}

/** Whether failures of other calls alone would have cooled the deployment that just failed here. */
async function isDead(services: PipelineServices, call: Call, deployment: Deployment): Promise<boolean> {
  await learnSignals(services, call, [deployment])
  const { failures, cooledUntil } = services.signals.of(deployment.id)
  return cooledUntil > 0 && failures > services.config.router_settings.allowed_fails + 1
}

/** Holds what the continuation may cost, on top of the answer so far. False if a budget has no room for it. */
async function affords(services: PipelineServices, call: Call, plan: Plan, target: Deployment): Promise<boolean> {
  try {
    await holdFallback(services, call, plan, [target])
    return true
  } catch (error) {
    if (error instanceof GatewayError) return false
    throw error
  }
}

/** Writes keep-alive comments while no stream is open. Returns what stops them and waits for the last write. */
function showLife(call: Call, client: ClientStream, everySeconds: number): () => Promise<unknown> {
  const { signal } = call.client
  let writing: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    writing = writing.then(() => client.write(KEEP_ALIVE)).catch(() => {})
  }, 1000 * everySeconds)
  const left = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  return () => {
    clearInterval(timer)
    // A write to a client that has left may never finish.
    return atMost(Math.max(0, call.deadline - performance.now()), Promise.race([writing, left]))
  }
}
