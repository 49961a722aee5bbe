import { atMost } from './at-most.ts'

/** How often a second something is made for those who ask for it. */
const MOST_PER_SECOND = 5
/** What was begun longer ago may never end: a runtime can kill it with whoever asked first. */
const ABANDONED_MS = 3000

interface Pace<Made> {
  /** How many more may be begun now. */
  left: number
  countedAt: number
  /** The one that runs, and when it was begun. */
  running: { readonly promise: Promise<Made>; readonly begunAt: number } | undefined
  last: { readonly made: Made } | undefined
}

/** What is costly and asked for by anybody, without a key: made for an owner at most five times a second and one at a time.
 *  Whoever asks more often gets what was made last. */
export function paced<Owner extends object, Made>(
  make: (owner: Owner) => Promise<Made>,
  now: () => number = () => performance.now(),
): (owner: Owner) => Promise<Made> {
  const paces = new WeakMap<Owner, Pace<Made>>()
  return async (owner) => {
    const at = now()
    const pace = paces.get(owner) ?? { left: MOST_PER_SECOND, countedAt: at, running: undefined, last: undefined }
    paces.set(owner, pace)
    pace.left = Math.min(MOST_PER_SECOND, pace.left + ((at - pace.countedAt) * MOST_PER_SECOND) / 1000)
    pace.countedAt = at
    const running = pace.running && at - pace.running.begunAt < ABANDONED_MS ? pace.running : undefined
    if (pace.last && (running || pace.left < 1)) return pace.last.made
    if (running) {
      const shared = await atMost(ABANDONED_MS, running.promise)
      if (shared) return shared.value
    }
    pace.left = Math.max(0, pace.left - 1)
    const own = { promise: make(owner), begunAt: at }
    pace.running = own
    try {
      const made = await own.promise
      pace.last = { made }
      return made
    } finally {
      if (pace.running === own) pace.running = undefined
    }
  }
}
