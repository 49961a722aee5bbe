import type { Metric } from './metric.ts'

export const fieldsDropped: Metric = {
  name: 'gateway_fields_dropped_total',
  help: 'Hints of requests that the provider does not know and that were left out.',
  type: 'counter',
  initial: { endpoint: '', provider: '', field: '' },
  value: (event) => (event.type === 'field.dropped' ? 1 : undefined),
  labels(event) {
    if (event.type !== 'field.dropped') return {}
    const { endpoint, provider, field } = event
    return { endpoint, provider, field }
  },
}
