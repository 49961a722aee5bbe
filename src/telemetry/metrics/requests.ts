import { callLabels, modelCallIn } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const requests: Metric = {
  name: 'gateway_requests_total',
  help: 'Model calls, by how they were answered.',
  type: 'counter',
  value: (event) => (modelCallIn(event) ? 1 : undefined),
  ofCalls: true,
  labels: (event) => ({ ...callLabels(event), status_code: String(modelCallIn(event)?.status ?? '') }),
}
