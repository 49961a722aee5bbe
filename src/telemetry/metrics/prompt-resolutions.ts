import { metricOf } from './metric.ts'

export const promptResolutions = metricOf(['prompt.resolved'], {
  name: 'gateway_prompt_resolutions_total',
  help: 'Prompt templates that calls named, by what became of them.',
  type: 'counter',
  initial: [{ prompt: '', status: 'ok' }],
  value: () => 1,
  labels: ({ prompt, status }) => ({ prompt, status }),
})
