import type { Mode } from '../../modes/mode.ts'
import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import type { Deployment } from '../deployment.ts'

/** A deployment that a call may go to, with what is known of it now. */
export interface Candidate {
  readonly deployment: Deployment
  readonly signals: DeploymentSignals
}

export interface StrategyContext {
  /** Uniform in [0, 1). The same sequence for every ordering of one call. */
  random(): number
  readonly mode: Mode
}

/** Decides in which order a call tries its candidates. Pure and synchronous; failover walks the answer. */
export interface Strategy {
  /** Its value in `routing_strategy`. */
  readonly name: string
  order(candidates: readonly Candidate[], context: StrategyContext): Candidate[]
  /** What it goes by of a candidate, in words. */
  because(candidate: Candidate, mode: Mode): string
}
