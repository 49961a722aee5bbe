import type { Strategy } from './strategy.ts'

/** The lowest `model_info.priority` first; the next only when nothing of the better pool can be had. */
export const priorityBasedRouting: Strategy = {
  name: 'priority-based-routing',
  rank: ({ info }) => info.priority ?? 0,
  because: ({ deployment }) => `priority ${deployment.info.priority ?? 0}`,
}
