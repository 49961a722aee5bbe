import type { Strategy } from './strategy.ts'

/** The lowest `model_info.priority` first; the next only if no better deployment is available. */
export const priorityBasedRouting: Strategy = {
  name: 'priority-based-routing',
  rank: ({ info }) => info.priority ?? 0,
  because: ({ deployment }) => `priority ${deployment.info.priority ?? 0}`,
}
