/** How long an answer that has begun is listened to when nobody reads it any more: many are about to end, and then tell
 *  what they have used. */
const BEGUN_MS = 400
/** The same for one that is complete but for its usage. With what ends it, within a second. */
const COMPLETE_MS = 900

/** What is left of an upstream call when its client has left. */
export interface Parting {
  /** The client has left. */
  left(): void
  /** The provider answers: until then it is ended at once. */
  begun(): void
  /** Nothing of the answer is missing but its usage. */
  complete(): void
  stop(): void
}

/** Ends an upstream call soon after its client has left, and at once where nothing is to be learned from it. */
export function parting(end: () => void): Parting {
  let graceMs = 0
  let leftAt: number | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = () => {
    if (leftAt === undefined) return
    clearTimeout(timer)
    if (graceMs === 0) end()
    else timer = setTimeout(end, Math.max(0, leftAt + graceMs - performance.now()))
  }
  return {
    left() {
      if (leftAt !== undefined) return
      leftAt = performance.now()
      arm()
    },
    begun() {
      graceMs = BEGUN_MS
      arm()
    },
    complete() {
      graceMs = COMPLETE_MS
      arm()
    },
    stop: () => clearTimeout(timer),
  }
}
