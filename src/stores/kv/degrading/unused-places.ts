import type { Candidate, DeploymentOutcome, Reservation } from '../deployment-signals.ts'
import { TELLS_NOTHING } from '../nothing.ts'
import type { Admission, Settlement } from '../shared-store.ts'

const UNUSED = { result: 'neutral', used: {}, cooldown: { allowedFails: 0, seconds: 0 } } as const

/** Releases what the shared store may have reserved for a call whose admission timed out and which is refused or fails
 *  here: the call is not settled, because it may be asked for again. undefined for an admission without candidates, which
 *  may belong to a running call, with which it is settled. */
export function releasing(
  { callId, attemptId, slots, budgets, candidates }: Admission,
  now: number,
): Settlement | undefined {
  if (slots.length === 0 && candidates.length === 0) return undefined
  return {
    ...TELLS_NOTHING,
    callId,
    id: `${attemptId}/release`,
    slots: slots.map(({ subject }) => subject),
    budgets: budgets.map(({ subject, period, holdNano }) => ({ subject, period, holdNano, spentNano: 0 })),
    outcomes: unusedAt(candidates, attemptId, now),
  }
}

/** Gives back the place that the shared store may have reserved at another deployment than this process, for a call whose
 *  admission timed out. All else is settled with the call. undefined if there is no other deployment. */
export function givingBack(
  { callId, attemptId, candidates }: Admission,
  reserved: Reservation | undefined,
  now: number,
): Settlement | undefined {
  const others = candidates.filter(({ deployment }) => deployment !== reserved?.deployment)
  if (others.length === 0) return undefined
  const outcomes = unusedAt(others, attemptId, now)
  return { ...TELLS_NOTHING, callId, id: `${attemptId}/release`, outcomes }
}

/** The place of an attempt that was not used, where it is unknown at which of these deployments it is. */
const unusedAt = (candidates: readonly Candidate[], attemptId: string, unusedSince: number): DeploymentOutcome[] =>
  candidates.map(({ deployment }) => ({ deployment, attemptId, ...UNUSED, unusedSince }))
