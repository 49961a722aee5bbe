import { metricOf } from './metric.ts'

export const fieldsDropped = metricOf(['field.dropped'], {
  name: 'gateway_fields_dropped_total',
  help: 'Hints of requests that the provider does not know and that were left out.',
  type: 'counter',
  initial: [{ endpoint: '', provider: '', field: '' }],
  value: () => 1,
  labels: ({ endpoint, provider, field }) => ({ endpoint, provider, field }),
})
