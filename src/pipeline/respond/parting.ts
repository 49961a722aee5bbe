/** How long an upstream that has begun to answer is read after its client left: many are about to end and then report
 *  their usage. */
const BEGUN_MS = 400
/** The same for an answer that is complete except for its usage. Together with the abort it stays within a second. */
const COMPLETE_MS = 900

/** The grace period of an upstream request after its client left. */
export interface Parting {
  /** The client left. */
  left(): void
  /** The provider began to answer. Before that the request is ended at once. */
  begun(): void
  /** The answer is complete except for its usage. */
  complete(): void
  stop(): void
}

/** Ends an upstream request after a grace period once its client left, or at once if its usage cannot be learned. */
export function newParting(end: () => void): Parting {
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
