import type { Delivery } from './delivery/delivery.ts'
import type { CounterScope } from './metrics/scopes.ts'

interface Readers {
  readonly counters: CounterScope
  readonly delivery: Delivery
}

/** The readers of events for those who look at them: whoever asks after an answer finds its call. `catchUp` has every
 *  event read that was emitted so far. */
export function upToDate({ counters, delivery }: Readers, catchUp: () => void): Readers {
  const after =
    <Arguments extends readonly unknown[], Result>(ask: (...given: Arguments) => Result) =>
    (...given: Arguments): Result => {
      catchUp()
      return ask(...given)
    }
  const { depth, lagMs, written, drain } = delivery
  return {
    counters: { ...counters, all: after(counters.all) },
    delivery: {
      ...delivery,
      depth: after(depth),
      ...(lagMs ? { lagMs: after(lagMs) } : {}),
      ...(written ? { written: after(written) as typeof written } : {}),
      drain: after(drain),
    },
  }
}
