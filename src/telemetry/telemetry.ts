import type { Log, LogFields } from '../lib/log.ts'
import { audit } from './audit.ts'
import type { Delivery } from './delivery.ts'
import type { RecordsMoved, TelemetryEvent } from './events.ts'
import { ledger } from './ledger.ts'
import type { CounterScope } from './metrics/scopes.ts'

/** The one stream of events. Everything that reports reads it; nothing that reports is called by name. */
export interface Telemetry {
  emit(event: TelemetryEvent): void
  /** What the next settlement has to carry to the shared counters. */
  settledCounters(): Record<string, number>
}

export function telemetry(log: Log, counters: CounterScope, delivery: Delivery): Telemetry {
  return {
    emit(event) {
      counters.count(event)
      // The ways of records log their own troubles, at most once a second.
      if ('records' in event) return
      if (event.type === 'call.finished') delivery.deliver(ledger, event)
      if (event.type === 'audit.recorded') delivery.deliver(audit, event.event)
      log.info(event.type, fieldsOf(event))
    },
    settledCounters: counters.settled,
  }
}

/** The line has a time of its own, and who pays is told by the ledger. */
function fieldsOf(event: Exclude<TelemetryEvent, RecordsMoved>): LogFields {
  if (event.type === 'audit.recorded') {
    const { action, resource_id, actor_type, actor_id, request_id, status } = event.event
    return { action, resource_id, actor_type, actor_id, requestId: request_id, status }
  }
  if (event.type !== 'call.finished') {
    const { type: _type, at: _at, ...fields } = event
    return fields
  }
  const { type: _type, at: _at, charges: _charges, ...fields } = event
  return fields
}
