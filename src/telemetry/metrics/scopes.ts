import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { TelemetryEvent } from '../events.ts'
import type { CountedMetrics } from './counted-metrics.ts'
import { counters } from './counters.ts'

/** Keeps the runtime alive for work that outlives an answer. */
interface Runtime {
  defer(work: Promise<unknown>): void
}

/** The counters of this process, or of all isolates. */
export interface CounterScope {
  count(event: TelemetryEvent): void
  /** The growth that the next settlement adds to the shared counters. */
  settled(): Record<string, number>
  /** Sends growth that no settlement carries to the shared store. */
  flush(runtime: Runtime): void
  all(): Promise<Record<string, number>>
}

/** The counters of all processes that share a port. */
export interface CounterPool {
  counting(own: () => Record<string, number>): void
  gathered(): Promise<Record<string, number>>
}

/** Counters in the memory of this process, summed with those of its group. */
export function processCounters({ metrics, labels }: CountedMetrics, pool?: CounterPool): CounterScope {
  const own = counters(metrics, labels)
  pool?.counting(own.all)
  const all = pool ? pool.gathered : async () => own.all()
  return { count: own.count, settled: () => ({}), flush() {}, all }
}

const FLUSH_INTERVAL_MS = 1000

/** Counters in the shared store, for isolates, which are short-lived and share no memory. */
export function sharedCounters({ metrics, labels }: CountedMetrics, store: SharedStore): CounterScope {
  const own = counters(metrics, labels)
  let flushedAt = 0
  async function flush(): Promise<void> {
    const grown = own.drain()
    if (Object.keys(grown).length === 0) return
    const callId = `flush_${crypto.randomUUID()}`
    await store.settle({ callId, slots: [], budgets: [], outcomes: [], counters: grown, entries: [] })
  }
  return {
    count: own.count,
    settled: own.drain,
    flush(runtime) {
      if (Date.now() - flushedAt < FLUSH_INTERVAL_MS) return
      flushedAt = Date.now()
      runtime.defer(flush().catch(() => {}))
    },
    async all() {
      // The page includes the latest counts of this isolate.
      await flush().catch(() => {})
      return store.counters().catch(() => ({}))
    },
  }
}
