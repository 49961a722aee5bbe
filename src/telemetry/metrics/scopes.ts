import { elapsedMs } from '../../lib/clock.ts'
import { TELLS_NOTHING } from '../../stores/kv/nothing.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { TelemetryEvent } from '../events.ts'
import { counters } from './counters.ts'
import type { Metric } from './metric.ts'
import type { Gauges, Vitals } from './process-gauges.ts'

/** Keeps the runtime alive for work that outlives an answer. */
interface Runtime {
  defer(work: Promise<unknown>): void
}

/** The measurements of a process: its counters, which only grow, and its current gauges. */
export interface Measured {
  /** undefined while they cannot be read. */
  readonly counters: Readonly<Record<string, number>> | undefined
  readonly gauges: Gauges
}

/** The processes that share a port. */
export interface ProcessPool {
  measuring(own: () => Promise<Measured>): void
  /** Their measurements together. */
  gathered(): Promise<Measured>
}

export interface OwnProcess {
  vitals(): Vitals
  /** Set in a process that shares its port with others. */
  readonly pool?: ProcessPool | undefined
}

/** The measurements of this process, or of all that share its port. */
export function measuring(counters: CounterScope, gauges: () => Gauges, pool?: ProcessPool): () => Promise<Measured> {
  const own = async () => ({ counters: await counters.all(), gauges: gauges() })
  pool?.measuring(own)
  return pool?.gathered ?? own
}

/** The counters of this process, or of all isolates. */
export interface CounterScope {
  count(event: TelemetryEvent): void
  /** The growth that the next settlement adds to the shared counters. */
  settled(): Record<string, number>
  /** Sends growth that no settlement carries to the shared store. */
  flush(runtime: Runtime): void
  /** undefined while they cannot be read. */
  all(): Promise<Record<string, number> | undefined>
}

/** Counters in the memory of this process. */
export function processCounters(metrics: readonly Metric[]): CounterScope {
  const own = counters(metrics)
  return { count: own.count, settled: () => ({}), flush() {}, all: async () => own.all() }
}

const FLUSH_INTERVAL_MS = 1000

/** Counters in the shared store, for isolates, which are short-lived and share no memory. */
export function sharedCounters(metrics: readonly Metric[], store: SharedStore): CounterScope {
  const own = counters(metrics)
  let flushedAt = 0
  async function flush(): Promise<void> {
    const grown = own.drain()
    if (Object.keys(grown).length === 0) return
    const callId = `flush_${crypto.randomUUID()}`
    await store.settle({ ...TELLS_NOTHING, callId, counters: grown })
  }
  return {
    count: own.count,
    settled: own.drain,
    flush(runtime) {
      if (elapsedMs(flushedAt, Date.now()) < FLUSH_INTERVAL_MS) return
      flushedAt = Date.now()
      runtime.defer(flush().catch(() => {}))
    },
    async all() {
      // The page includes the latest counts of this isolate.
      await flush().catch(() => {})
      return store.counters().catch(() => undefined)
    },
  }
}
