import { describeError } from '../../lib/log.ts'
import type { DeploymentOutcome } from '../../stores/kv/deployment-signals.ts'
import type { Attempt, Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { begun, outcome, unusedPlace } from '../settle/finish.ts'

/** Tells the store of the attempts that have failed or lost a hedge while their call goes on, and gives back the places
 *  that it does not need: others know of a failure now, not when a long answer has ended. */
export function settleEnded(services: PipelineServices, call: Call): void {
  const ended = call.attempts.filter(
    ({ endedAt, settled, lostHedge, failure }) =>
      endedAt !== undefined && !settled && (lostHedge || failure?.isFinal === false),
  )
  const unused = call.unused.splice(0)
  const [first] = [...ended.map(({ id }) => id), ...unused.map(({ attemptId }) => attemptId)]
  if (first === undefined) return
  for (const attempt of ended) attempt.settled = true
  settleEarly(services, call, first, [
    ...ended.map((attempt) => outcome(services, call, attempt)),
    ...unused.map((reserved) => unusedPlace(services, reserved)),
  ])
}

/** A deployment whose probe begins to answer takes calls again, not when a long answer has ended. */
export function settleCommitted(services: PipelineServices, call: Call, attempt: Attempt): void {
  if (attempt.reserved.probe) settleEarly(services, call, `${attempt.id}/commit`, [begun(services, attempt)])
}

/** Beside the call, which does not wait for it, and in the order in which things happened. `id` names it: once is enough,
 *  whatever else of the call is settled. */
function settleEarly(services: PipelineServices, call: Call, id: string, outcomes: readonly DeploymentOutcome[]): void {
  const nothing = { slots: [], budgets: [], counters: {}, entries: [] }
  const settle = () => services.store.settle({ callId: id, outcomes, ...nothing })
  call.settling = (call.settling ? call.settling.then(settle) : settle()).catch((error) =>
    services.log.warn('settle.failed', { callId: call.id, error: describeError(error) }),
  )
  call.client.defer(call.settling)
}
