import type { Mode } from '../../modes/mode.ts'
import { type DeploymentSignals, type PreferredBy, rankBy } from '../../stores/kv/deployment-signals.ts'
import type { Deployment } from '../deployment.ts'
import type { KnownSignals } from '../known-signals.ts'

/** A deployment that a call may go to, with what is known of it now. */
export interface Candidate {
  readonly deployment: Deployment
  readonly signals: DeploymentSignals
}

export interface StrategyContext {
  readonly mode: Mode
  /** What is known of the candidates now. */
  readonly signals: Pick<KnownSignals, 'of'>
}

/** Decides in which order a call tries its candidates. Pure and synchronous; failover walks the order. */
export interface Strategy {
  /** Its value in `routing_strategy`. */
  readonly name: string
  /** Where it puts a candidate: the lowest first, of equals the one with the lower draw, one of `DRAWS`. */
  rank(deployment: Deployment, draw: number, context: StrategyContext): number
  /** Of what changes with every call: the store, which knows the newest, goes by it too. */
  readonly prefers?: PreferredBy
  /** What it goes by of a candidate, in words. */
  because(candidate: Candidate, mode: Mode): string
}

/** The order of a strategy that goes by what is known of its candidates. */
export const preferring = (by: PreferredBy): Pick<Strategy, 'prefers' | 'rank'> => ({
  prefers: by,
  rank: ({ id, limits }, _draw, { mode: { unit }, signals }) => rankBy({ by, unit }, signals.of(id), limits),
})
