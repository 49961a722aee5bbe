import { callLabels } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const requestFailures = metricOf(['call.finished', 'request.finished'], {
  name: 'gateway_request_failures_total',
  help: 'Model calls that did not get a whole answer, by type of error.',
  type: 'counter',
  value(event) {
    if (event.type === 'call.finished') return event.ending === 'answered' ? undefined : 1
    return event.modelCall && event.status >= 400 ? 1 : undefined
  },
  ofCalls: true,
  labels: (event) => ({ ...callLabels(event), error_type: event.errorType }),
})
