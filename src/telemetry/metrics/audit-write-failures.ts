import { metricOf, unlabelled } from './metric.ts'

export const auditWriteFailures = metricOf(['records.failed'], {
  name: 'gateway_audit_write_failures_total',
  help: 'Attempts to write audit events that failed; they are repeated.',
  type: 'counter',
  initial: [{}],
  value: ({ topic }) => (topic === 'audit' ? 1 : undefined),
  labels: unlabelled,
})
