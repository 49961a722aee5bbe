import { entryOf } from '../../../lib/json/lenient.ts'

/** The efforts of reasoning that models take, by their names; none is none. The first that fits counts. */
export type Efforts = readonly (readonly [RegExp, readonly string[]])[]

/** From the least to the most. `default` is a vendor's word for its only way to reason. */
const RANKS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 3,
  default: 3,
  high: 4,
  xhigh: 5,
  max: 6,
}

/** The effort that a model takes which is nearest to the one that is asked for; of two the higher one. The same where
 *  nothing is known of the model; undefined where it takes none. */
export function nearestEffort(asked: unknown, model: string, efforts: Efforts): unknown {
  const taken = efforts.find(([name]) => name.test(model))?.[1]
  const rank = entryOf(RANKS, asked)
  if (!taken || rank === undefined || taken.includes(asked as string)) return asked
  const distance = (word: string) => Math.abs((RANKS[word] ?? 0) - rank)
  return taken.reduce<string | undefined>(
    (best, word) => (best === undefined || distance(word) <= distance(best) ? word : best),
    undefined,
  )
}

/** The effort of a budget of thought in tokens. */
export function effortOfBudget(budget: number): string {
  return budget <= 2048 ? 'low' : budget <= 8192 ? 'medium' : 'high'
}
