import { describeError } from '../lib/log.ts'
import type { Attempt, Call } from './call.ts'
import { outcome, unusedPlace } from './finish.ts'
import type { PipelineServices } from './pipeline.ts'

/** Tells the store of the attempts that have ended while their call goes on, so that their leases are free and others
 *  know of a failure now, not when a long answer has ended. Beside the call, which does not wait for it. Of the failed
 *  only those may be told that the call does not ask again: a deployment that is cooled refuses that too. */
export function settleEnded(
  services: PipelineServices,
  call: Call,
  which: (attempt: Attempt) => boolean = () => true,
): void {
  const ended = call.attempts.filter(
    (one) => one.endedAt !== undefined && !one.settled && !one.comesAgain && which(one),
  )
  const unused = call.unused.splice(0)
  const [first] = [...ended.map(({ id }) => id), ...unused.map(({ attemptId }) => attemptId)]
  if (first === undefined) return
  for (const attempt of ended) attempt.settled = true
  const settling = services.store.settle({
    // Once for each attempt, whatever else of the call is settled.
    callId: first,
    slots: [],
    budgets: [],
    outcomes: [
      ...ended.map((attempt) => outcome(services, call, attempt)),
      ...unused.map((reserved) => unusedPlace(services, reserved)),
    ],
    counters: {},
    entries: [],
  })
  call.client.defer(
    settling.catch((error) => services.log.warn('settle.failed', { callId: call.id, error: describeError(error) })),
  )
}
