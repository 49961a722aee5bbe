import type { Deployment } from './deployment.ts'
import type { Strategy, StrategyContext } from './strategies/strategy.ts'

/** Draws are integers from 0 to below this. */
export const DRAWS = 2 ** 31

/** A deployment with its random draw and its rank in the order of one call. */
export interface Placed {
  readonly deployment: Deployment
  readonly draw: number
  readonly rank: number
}

/** The first `most` deployments in a strategy's order, found without sorting the others. If there are more than `most`,
 *  deployments that accept no calls now come after all that do. */
export function firstInOrder(
  deployments: readonly Deployment[],
  most: number,
  strategy: Strategy,
  context: StrategyContext & { random(): number; takesCalls(deployment: Deployment): boolean },
): Placed[] {
  const first: Placed[] = []
  const behind: Placed[] = []
  const tooMany = deployments.length > most
  const next = drawing(context.random())
  for (const deployment of deployments) {
    const draw = next()
    const rank = strategy.rank(deployment, draw, context)
    const last = first[most - 1]
    if (last && !precedes(rank, draw, last)) continue
    insert(tooMany && !context.takesCalls(deployment) ? behind : first, { deployment, draw, rank }, most)
  }
  return first.length === most ? first : [...first, ...behind].slice(0, most)
}

/** The same deployments with the same draws, ranked by the current signals. */
export function orderedAgain(placed: readonly Placed[], strategy: Strategy, context: StrategyContext): Placed[] {
  const order: Placed[] = []
  for (const { deployment, draw } of placed) {
    insert(order, { deployment, draw, rank: strategy.rank(deployment, draw, context) }, placed.length)
  }
  return order
}

/** All deployments in a strategy's order. */
export function inOrder(
  deployments: readonly Deployment[],
  strategy: Strategy,
  context: StrategyContext & { random(): number },
): Placed[] {
  const next = drawing(context.random())
  const placed = deployments.map((deployment) => {
    const draw = next()
    return { deployment, draw, rank: strategy.rank(deployment, draw, context) }
  })
  return placed.sort((a, b) => (precedes(a.rank, a.draw, b) ? -1 : 1))
}

/** Draws from a seed in [0, 1), by mulberry32. They are integers, because fractions would allocate memory for every
 *  deployment of every call. */
function drawing(seed: number): () => number {
  let state = (seed * 2 ** 32) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 1
  }
}

function insert(order: Placed[], one: Placed, most: number): void {
  let at = order.length
  while (at > 0 && precedes(one.rank, one.draw, order[at - 1] as Placed)) at -= 1
  if (at >= most) return
  order.splice(at, 0, one)
  if (order.length > most) order.pop()
}

function precedes(rank: number, draw: number, other: Placed): boolean {
  return rank < other.rank || (rank === other.rank && draw < other.draw)
}
