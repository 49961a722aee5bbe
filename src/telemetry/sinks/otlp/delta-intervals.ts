/** The times of the points of one delivery, in milliseconds since 1970. */
export interface Interval {
  /** When the interval of a stream's point begins. */
  startOf(stream: string): number
  readonly end: number
  /** The delivery failed: its points are told again. */
  failed(): void
}

/** The intervals of deltas. Who adds deltas up takes a point only if it begins where the last one of its stream ended, such
 *  as the collector's exporter for Prometheus: a point that begins earlier is dropped, and after a gap the sum begins
 *  anew. */
export interface DeltaIntervals {
  /** `first`: when the first thing that is told began; `last`: when the last one ended. */
  next(first: number, last: number): Interval
}

/** How many streams are remembered. */
const MOST_STREAMS = 10_000

export function deltaIntervals(now: () => number = Date.now, most = MOST_STREAMS): DeltaIntervals {
  let ends = new Map<string, number>()
  /** When the streams that are not remembered began at the latest. */
  let since: number | undefined
  let latest = 0
  return {
    next(first, last) {
      const end = Math.max(now(), last, latest + 1)
      const known = ends.size < most ? ends : new Map<string, number>()
      if (known !== ends) since = latest
      ends = known
      latest = end
      const starts = new Map<string, number>()
      return {
        end,
        startOf(stream) {
          const start = starts.get(stream) ?? known.get(stream) ?? since ?? first
          starts.set(stream, start)
          known.set(stream, end)
          return start
        },
        failed() {
          // A delivery that ran at the same time has its own end there.
          for (const [stream, start] of starts) if (known.get(stream) === end) known.set(stream, start)
        },
      }
    },
  }
}
