import { callLabels } from './call-labels.ts'
import { type Metric, NOTHING } from './metric.ts'

export const requestFailures: Metric = {
  name: 'gateway_request_failures_total',
  help: 'Model calls that did not get a whole answer, by type of error.',
  type: 'counter',
  of(event) {
    const failed = event.type === 'call.finished' ? event.ending !== 'answered' : event.modelCall && event.status >= 400
    return failed ? [{ labels: { ...callLabels(event), error_type: event.errorType }, value: 1 }] : NOTHING
  },
}
