import { atMost } from './timers/at-most.ts'

/** The most runs in a second. */
const MOST_PER_SECOND = 10
/** A run that takes longer was killed by the runtime, together with its request. */
const ABANDONED_MS = 3000

interface Pace<Made> {
  /** The number of runs that may begin now. */
  left: number
  countedAt: number
  running: Promise<Made> | undefined
  /** The run after the current one, for all requests that arrived since that began. */
  next: Promise<Made> | undefined
}

/** Limits costly work that can be requested without a key: it runs at most ten times a second for each owner, one
 *  run at a time. Further requests share the next run, so that no result is older than its request. */
export function paced<Owner extends object, Made>(
  make: (owner: Owner) => Promise<Made>,
): (owner: Owner) => Promise<Made> {
  const paces = new WeakMap<Owner, Pace<Made>>()

  function paceOf(owner: Owner): Pace<Made> {
    const at = performance.now()
    const pace = paces.get(owner) ?? { left: MOST_PER_SECOND, countedAt: at, running: undefined, next: undefined }
    paces.set(owner, pace)
    pace.left = Math.min(MOST_PER_SECOND, pace.left + ((at - pace.countedAt) * MOST_PER_SECOND) / 1000)
    pace.countedAt = at
    return pace
  }

  function begin(owner: Owner, pace: Pace<Made>): Promise<Made> {
    pace.left -= 1
    const own = make(owner).finally(() => {
      if (pace.running === own) pace.running = undefined
    })
    pace.running = own
    return own
  }

  async function follow(owner: Owner, pace: Pace<Made>): Promise<Made> {
    if (pace.running) await atMost(ABANDONED_MS, pace.running).catch(() => {})
    const { left } = paceOf(owner)
    if (left < 1) await new Promise((resolve) => setTimeout(resolve, ((1 - left) * 1000) / MOST_PER_SECOND))
    paceOf(owner)
    pace.next = undefined
    return begin(owner, pace)
  }

  return async (owner) => {
    const pace = paceOf(owner)
    if (!pace.running && !pace.next && pace.left >= 1) return begin(owner, pace)
    pace.next ??= follow(owner, pace)
    const { next } = pace
    const shared = await atMost(2 * ABANDONED_MS, next)
    if (shared) return shared.value
    if (pace.next === next) pace.next = undefined
    return begin(owner, pace)
  }
}
