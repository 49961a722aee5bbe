import { type Metric, unlabelled } from './metric.ts'

/** Never counted yet: there are no prompt templates. */
export const promptResolutions: Metric = {
  name: 'gateway_prompt_resolutions_total',
  help: 'Prompt templates rendered into calls.',
  type: 'counter',
  initial: {},
  value: () => undefined,
  labels: unlabelled,
}
