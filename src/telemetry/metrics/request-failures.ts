import { callLabels, modelCallIn } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const requestFailures: Metric = {
  name: 'gateway_request_failures_total',
  help: 'Model calls that did not get a whole answer, by type of error.',
  type: 'counter',
  value: (event) => {
    if (event.type === 'call.finished') return event.ending === 'answered' ? undefined : 1
    return modelCallIn(event) && event.type === 'request.finished' && event.status >= 400 ? 1 : undefined
  },
  ofCalls: true,
  labels: (event) => ({ ...callLabels(event), error_type: modelCallIn(event)?.errorType ?? '' }),
}
