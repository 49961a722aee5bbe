import { costBasedRouting } from './cost-based-routing.ts'
import { latencyBasedRouting } from './latency-based-routing.ts'
import { leastBusy } from './least-busy.ts'
import { priorityBasedRouting } from './priority-based-routing.ts'
import { rateLimitAware } from './rate-limit-aware.ts'
import { simpleShuffle } from './simple-shuffle.ts'
import type { Strategy } from './strategy.ts'
import { tagBasedRouting } from './tag-based-routing.ts'
import { usageBasedRouting } from './usage-based-routing.ts'
import { weighted } from './weighted.ts'

const list: readonly Strategy[] = [
  simpleShuffle,
  weighted,
  priorityBasedRouting,
  leastBusy,
  latencyBasedRouting,
  costBasedRouting,
  usageBasedRouting,
  rateLimitAware,
  tagBasedRouting,
]

/** Every value of `routing_strategy`. */
export const strategies: ReadonlyMap<string, Strategy> = new Map(list.map((strategy) => [strategy.name, strategy]))
