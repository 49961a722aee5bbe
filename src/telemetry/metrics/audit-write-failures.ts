import { type Metric, NOTHING } from './metric.ts'

export const auditWriteFailures: Metric = {
  name: 'gateway_audit_write_failures_total',
  help: 'Attempts to write audit events that failed; they are repeated.',
  type: 'counter',
  initial: {},
  of: (event) => (event.type === 'records.failed' && event.topic === 'audit' ? [{ labels: {}, value: 1 }] : NOTHING),
}
