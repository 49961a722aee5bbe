import { callLabels, modelCallIn } from './call-labels.ts'
import { type Metric, NOTHING } from './metric.ts'

export const requestFailures: Metric = {
  name: 'gateway_request_failures_total',
  help: 'Model calls that did not get a whole answer, by type of error.',
  type: 'counter',
  of(event) {
    const call = modelCallIn(event)
    if (!call) return NOTHING
    const failed = call.type === 'call.finished' ? call.ending !== 'answered' : call.status >= 400
    return failed ? [{ labels: { ...callLabels(call), error_type: call.errorType }, value: 1 }] : NOTHING
  },
}
