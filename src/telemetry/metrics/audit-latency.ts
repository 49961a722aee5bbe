import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { type Metric, NOTHING } from './metric.ts'

export const auditLatency: Metric = {
  name: 'gateway_audit_ingestion_latency_seconds',
  help: 'Time from an audit event to its row in the database, of the oldest event of each batch.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  of: (event) =>
    event.type === 'records.written' && event.topic === 'audit'
      ? [{ labels: {}, value: event.waitedMs / 1000 }]
      : NOTHING,
}
