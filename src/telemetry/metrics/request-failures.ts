import type { CallFinished, RequestFinished } from '../events.ts'
import { callLabels } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const requestFailures = metricOf(['call.finished', 'request.finished'], {
  name: 'gateway_request_failures_total',
  help: 'Model calls that did not get a whole answer, by type of error; `client_closed` where the client left.',
  type: 'counter',
  value(event) {
    if (event.type === 'call.finished') return event.ending === 'answered' ? undefined : 1
    return event.modelCall && event.status >= 400 ? 1 : undefined
  },
  ofCalls: true,
  labels: (event) => ({ ...callLabels(event), error_type: errorTypeOf(event) }),
})

/** Whose client has left is nobody's failure, and must not be taken for one of a provider. */
function errorTypeOf(event: CallFinished | RequestFinished): string {
  const hasLeft = event.type === 'call.finished' ? event.ending === 'client_closed' : event.status === 499
  return hasLeft ? 'client_closed' : event.errorType
}
