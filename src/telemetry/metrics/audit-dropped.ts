import { type Metric, unlabelled } from './metric.ts'

export const auditDropped: Metric = {
  name: 'gateway_audit_events_dropped_total',
  help: 'Audit events that were given up.',
  type: 'counter',
  initial: {},
  value: (event) => (event.type === 'records.dropped' && event.topic === 'audit' ? event.records : undefined),
  labels: unlabelled,
}
