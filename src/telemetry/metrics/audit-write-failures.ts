import { type Metric, unlabelled } from './metric.ts'

export const auditWriteFailures: Metric = {
  name: 'gateway_audit_write_failures_total',
  help: 'Attempts to write audit events that failed; they are repeated.',
  type: 'counter',
  initial: {},
  value: (event) => (event.type === 'records.failed' && event.topic === 'audit' ? 1 : undefined),
  labels: unlabelled,
}
