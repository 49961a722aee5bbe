import { callLabels } from './call-labels.ts'
import { type Metric, NOTHING } from './metric.ts'

export const requests: Metric = {
  name: 'gateway_requests_total',
  help: 'Model calls, by how they were answered.',
  type: 'counter',
  of: (event) =>
    event.type === 'call.finished' || event.modelCall
      ? [{ labels: { ...callLabels(event), status_code: String(event.status) }, value: 1 }]
      : NOTHING,
}
