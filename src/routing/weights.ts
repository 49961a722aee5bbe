import type { Deployment } from './deployment.ts'
import { DRAWS } from './order.ts'

const weightOf = ({ info }: Deployment) => info.weight ?? 1

/** Ranks for a draw without replacement in proportion to weight: exponential times whose mean is the inverse of the
 *  weight. Weights of zero come last. */
export function byWeight(deployment: Deployment, draw: number): number {
  const weight = weightOf(deployment)
  return weight > 0 ? -Math.log1p(-draw / DRAWS) / weight : Number.POSITIVE_INFINITY
}

export const describeWeight = (deployment: Deployment): string => `weight ${weightOf(deployment)}`
