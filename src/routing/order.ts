import type { Deployment } from './deployment.ts'
import type { Strategy, StrategyContext } from './strategies/strategy.ts'

/** Draws are whole numbers from 0 to below this. */
export const DRAWS = 2 ** 31

/** A deployment with the draw of a call for it, and where that and its strategy put it. */
export interface Placed {
  readonly deployment: Deployment
  readonly draw: number
  readonly rank: number
}

/** The first `most` in a strategy's order, found without ordering the others. Where there are more, those that would
 *  take no call now come behind all that would. */
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

/** The same ones, with the same draws, by what is known of them now. */
export function orderedAgain(placed: readonly Placed[], strategy: Strategy, context: StrategyContext): Placed[] {
  const order: Placed[] = []
  for (const { deployment, draw } of placed) {
    insert(order, { deployment, draw, rank: strategy.rank(deployment, draw, context) }, placed.length)
  }
  return order
}

/** All of them. */
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

/** Draws from a seed in [0, 1): whole numbers, because fractions would take memory for every deployment of every call
 *  (mulberry32). */
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
