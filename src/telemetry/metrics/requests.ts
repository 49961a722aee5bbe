import { callLabels } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const requests = metricOf(['call.finished', 'request.finished'], {
  name: 'gateway_requests_total',
  help: 'Model calls, by how they were answered.',
  type: 'counter',
  value: (event) => (event.type === 'call.finished' || event.modelCall ? 1 : undefined),
  ofCalls: true,
  labels: (event) => ({ ...callLabels(event), status_code: String(event.status) }),
})
