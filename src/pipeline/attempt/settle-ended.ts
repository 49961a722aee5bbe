import type { DeploymentOutcome } from '../../stores/kv/deployment-signals.ts'
import { TELLS_NOTHING } from '../../stores/kv/nothing.ts'
import type { Attempt, Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { begun, outcome, unusedPlace } from '../settle/outcome.ts'
import { settleInOrder } from '../settle/settle-in-order.ts'

/** Settles attempts that failed or lost a hedge, and releases unused places, while their call still runs: other
 *  processes learn of a failure now, not when a long answer ends. */
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

/** Reports at its commit that a probe has succeeded, so that the deployment takes calls again before a long answer ends; and
 *  that a retry has, since the failure before it was reported early, too. */
export function settleCommitted(services: PipelineServices, call: Call, attempt: Attempt): void {
  const { probe, retry } = attempt.reserved
  if (probe || retry) settleEarly(services, call, `${attempt.id}/commit`, [begun(services, attempt)])
}

/** Settles the attempt that answered a turn, while its call goes on. */
export function settleTurn(services: PipelineServices, call: Call, attempt: Attempt): void {
  if (attempt.settled) return
  attempt.settled = true
  settleEarly(services, call, `${attempt.id}/turn`, [outcome(services, call, attempt)])
}

/** Settles in the background, in the order of events. The store applies each `id` once, independent of the call's own
 *  settlement. */
function settleEarly(services: PipelineServices, call: Call, id: string, outcomes: readonly DeploymentOutcome[]): void {
  const settling = settleInOrder(services, call, () => ({ ...TELLS_NOTHING, callId: id, outcomes }))
  if (!settling) return
  call.settling = settling
  call.client.defer(settling)
}
