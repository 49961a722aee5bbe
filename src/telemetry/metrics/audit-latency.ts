import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { metricOf, unlabelled } from './metric.ts'

export const auditLatency = metricOf(['records.written'], {
  name: 'gateway_audit_ingestion_latency_seconds',
  help: 'Time from an audit event to its row in the database, of the oldest event of each batch.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: ({ topic, waitedMs }) => (topic === 'audit' ? waitedMs / 1000 : undefined),
  labels: unlabelled,
})
