import { metricOf, unlabelled } from './metric.ts'

export const auditDropped = metricOf(['records.dropped'], {
  name: 'gateway_audit_events_dropped_total',
  help: 'Audit events that were given up.',
  type: 'counter',
  initial: [{}],
  value: ({ topic, records }) => (topic === 'audit' ? records : undefined),
  labels: unlabelled,
})
