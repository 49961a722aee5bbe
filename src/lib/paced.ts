import { atMost } from './at-most.ts'

/** How often a second something is made for those who ask for it. */
const MOST_PER_SECOND = 10
/** What was begun longer ago may never end: a runtime can kill it with whoever asked first. */
const ABANDONED_MS = 3000

interface Pace<Made> {
  /** How many more may be begun now. */
  left: number
  countedAt: number
  running: Promise<Made> | undefined
  /** The one that begins when the running one has ended, for all who have asked since that began. */
  next: Promise<Made> | undefined
}

/** What is costly and asked for by anybody, without a key: made for an owner at most ten times a second and one at a time.
 *  Whoever asks more often waits for the next one with all the others; nobody gets what was begun before they asked. */
export function paced<Owner extends object, Made>(
  make: (owner: Owner) => Promise<Made>,
  now: () => number = () => performance.now(),
): (owner: Owner) => Promise<Made> {
  const paces = new WeakMap<Owner, Pace<Made>>()

  function paceOf(owner: Owner): Pace<Made> {
    const at = now()
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
