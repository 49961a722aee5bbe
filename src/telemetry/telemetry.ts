import type { Log } from '../lib/log.ts'
import type { SoftBudgetExceeded, TelemetryEvent } from './events.ts'
import type { CounterScope } from './metrics/scopes.ts'

/** The one stream of events. Everything that reports reads it; nothing that reports is called by name. */
export interface Telemetry {
  emit(event: TelemetryEvent | SoftBudgetExceeded): void
  /** What the next settlement has to carry to the shared counters. */
  settledCounters(): Record<string, number>
}

export function telemetry(log: Log, counters: CounterScope): Telemetry {
  return {
    emit(event) {
      if (event.type !== 'budget.soft_exceeded') counters.count(event)
      const { type, at: _, ...fields } = event
      log.info(type, fields)
    },
    settledCounters: counters.settled,
  }
}
