import { type Metric, NOTHING } from './metric.ts'

export const auditDropped: Metric = {
  name: 'gateway_audit_events_dropped_total',
  help: 'Audit events that were given up.',
  type: 'counter',
  initial: {},
  of: (event) =>
    event.type === 'records.dropped' && event.topic === 'audit' ? [{ labels: {}, value: event.records }] : NOTHING,
}
