import type { Deployment } from './deployment.ts'
import { DRAWS } from './order.ts'
import type { Candidate } from './strategies/strategy.ts'

const weightOf = ({ info }: Deployment) => info.weight ?? 1

/** Ranks that draw without replacement, each in proportion to its weight: who waits an exponential time, twice as long
 *  with half the weight, is first as often as its weight says, and so is the next among the others. Weights of zero come
 *  last. */
export function byWeight(deployment: Deployment, draw: number): number {
  const weight = weightOf(deployment)
  return weight > 0 ? -Math.log1p(-draw / DRAWS) / weight : Number.POSITIVE_INFINITY
}

export const weightInWords = ({ deployment }: Candidate): string => `weight ${weightOf(deployment)}`
