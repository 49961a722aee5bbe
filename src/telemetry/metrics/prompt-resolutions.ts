import type { Metric } from './metric.ts'

export const promptResolutions: Metric = {
  name: 'gateway_prompt_resolutions_total',
  help: 'Prompt templates that calls named, by what became of them.',
  type: 'counter',
  initial: { prompt: '', status: 'ok' },
  value: (event) => (event.type === 'prompt.resolved' ? 1 : undefined),
  labels: (event) =>
    event.type === 'prompt.resolved' ? { prompt: event.prompt, status: event.status } : { prompt: '', status: '' },
}
