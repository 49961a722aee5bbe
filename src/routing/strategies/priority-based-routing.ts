import type { Strategy } from './strategy.ts'

export const priorityBasedRouting: Strategy = {
  name: 'priority-based-routing',
  meaning: 'Lowest `priority` first.',
  rank: ({ info }) => info.priority ?? 0,
  because: ({ info }) => `priority ${info.priority ?? 0}`,
}
