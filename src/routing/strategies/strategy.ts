import type { Mode } from '../../modes/mode.ts'
import { type PreferredBy, rankBy } from '../../stores/kv/deployment-signals.ts'
import type { Deployment } from '../deployment.ts'
import type { KnownSignals } from '../known-signals.ts'

export interface StrategyContext {
  readonly mode: Mode
  /** The known signals of the candidates. */
  readonly signals: Pick<KnownSignals, 'of'>
  readonly now: number
}

/** Orders the candidates of a call for failover. Pure and synchronous. */
export interface Strategy {
  /** Its value in `routing_strategy`. */
  readonly name: string
  /** What comes first, in a sentence for the documents and the console. */
  readonly meaning: string
  /** The rank of a candidate: the lowest comes first, and of equal ranks the one with the lower draw (below
   *  `DRAWS`). */
  rank(deployment: Deployment, draw: number, context: StrategyContext): number
  /** The signal that ranks the candidates, if there is one: the store, which has the newest signals, ranks by it
   *  too. */
  readonly prefers?: PreferredBy
  /** The reason for a candidate's rank, for explanations. */
  because(deployment: Deployment, context: StrategyContext): string
}

/** The members of a strategy that ranks by a signal. */
export const preferring = (by: PreferredBy): Pick<Strategy, 'prefers' | 'rank'> => ({
  prefers: by,
  rank: ({ id, limits }, _draw, { mode: { unit }, signals, now }) => rankBy({ by, unit }, signals.of(id), limits, now),
})
