import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { type Metric, unlabelled } from './metric.ts'

export const auditLatency: Metric = {
  name: 'gateway_audit_ingestion_latency_seconds',
  help: 'Time from an audit event to its row in the database, of the oldest event of each batch.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: (event) => (event.type === 'records.written' && event.topic === 'audit' ? event.waitedMs / 1000 : undefined),
  labels: unlabelled,
}
