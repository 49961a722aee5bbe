import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { TelemetryEvent } from '../events.ts'
import { counters } from './counters.ts'
import type { Metric } from './metric.ts'

/** Keeps the runtime alive for work that outlives an answer. */
interface Deferring {
  defer(work: Promise<unknown>): void
}

/** Where counters add up. */
export interface CounterScope {
  count(event: TelemetryEvent): void
  /** What the next settlement has to carry. */
  settled(): Record<string, number>
  /** Sends on what no settlement will carry. */
  flush(runtime: Deferring): void
  all(): Promise<Record<string, number>>
}

/** The counters of all processes that serve one port. */
export interface CounterPool {
  counting(own: () => Record<string, number>): void
  gathered(): Promise<Record<string, number>>
}

/** In the process, which lives as long as its counters, and in those beside it. */
export function processCounters(metrics: readonly Metric[], pool?: CounterPool): CounterScope {
  const own = counters(metrics)
  pool?.counting(own.all)
  const all = pool ? pool.gathered : async () => own.all()
  return { count: own.count, settled: () => ({}), flush() {}, all }
}

const FLUSH_INTERVAL_MS = 1000

/** In the shared store, where isolates come and go and share no memory. */
export function sharedCounters(metrics: readonly Metric[], store: SharedStore): CounterScope {
  const own = counters(metrics)
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
      // What this isolate counted belongs on the page, whoever reads it next.
      await flush().catch(() => {})
      return store.counters().catch(() => ({}))
    },
  }
}
