import type { ModelInfo } from '../config/model-list.ts'

/** One token in and one out. */
export function tokenCost(info: ModelInfo): number | undefined {
  const { input_cost_per_token: input, output_cost_per_token: output } = info
  return input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)
}
