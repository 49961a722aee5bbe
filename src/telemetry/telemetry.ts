import type { Log } from '../lib/log.ts'
import type { TelemetryEvent } from './events.ts'
import type { Counters } from './metrics/counters.ts'

/** The one stream of events. Everything that reports reads it; nothing that reports is called by name. */
export interface Telemetry {
  emit(event: TelemetryEvent): void
  /** What has to travel with the next settlement: growth of the counters, where several isolates add up theirs in the
   *  shared store; nothing where the process keeps its own. */
  sharedCounters(): Record<string, number>
}

export function telemetry(log: Log, counters: Counters, scope: 'process' | 'shared'): Telemetry {
  return {
    emit(event) {
      counters.count(event)
      const { type, at: _, ...fields } = event
      log.info(type, fields)
    },
    sharedCounters: () => (scope === 'shared' ? counters.drain() : {}),
  }
}
