import { callLabels, modelCallIn } from './call-labels.ts'
import { type Metric, NOTHING } from './metric.ts'

export const requests: Metric = {
  name: 'gateway_requests_total',
  help: 'Model calls, by how they were answered.',
  type: 'counter',
  of(event) {
    const call = modelCallIn(event)
    return call ? [{ labels: { ...callLabels(call), status_code: String(call.status) }, value: 1 }] : NOTHING
  },
}
