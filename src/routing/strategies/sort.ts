import type { Mode } from '../../modes/mode.ts'
import type { Candidate } from './strategy.ts'

/** A fair random order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = [...items]
  for (let last = order.length - 1; last > 0; last--) {
    const pick = Math.floor(random() * (last + 1))
    const kept = order[last] as T
    order[last] = order[pick] as T
    order[pick] = kept
  }
  return order
}

/** Lowest first, equals in random order. */
export function sortedBy(
  candidates: readonly Candidate[],
  random: () => number,
  value: (candidate: Candidate) => number,
): Candidate[] {
  const valued = shuffled(candidates, random).map((candidate) => ({ candidate, value: value(candidate) }))
  return valued.sort((a, b) => compare(a.value, b.value)).map(({ candidate }) => candidate)
}

// Infinity minus itself is NaN, which would leave the order undefined.
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** Drawn without replacement, each in proportion to its weight; weights of zero come last. */
export function weightedOrder(candidates: readonly Candidate[], random: () => number): Candidate[] {
  const left = shuffled(candidates, random)
  const order: Candidate[] = []
  while (left.length > 0) order.push(...left.splice(draw(left, random), 1))
  return order
}

/** Index of one candidate, drawn in proportion to weight. */
function draw(candidates: readonly Candidate[], random: () => number): number {
  const total = candidates.reduce((sum, candidate) => sum + weightOf(candidate), 0)
  let ticket = random() * total
  for (const [index, candidate] of candidates.entries()) {
    ticket -= weightOf(candidate)
    if (ticket < 0) return index
  }
  return 0
}

function weightOf({ deployment }: Candidate): number {
  return deployment.info.weight ?? 1
}

export const weightInWords = (candidate: Candidate): string => `weight ${weightOf(candidate)}`

export function utilizationInWords(candidate: Candidate, { unit }: Mode): string {
  const share = utilization(candidate, ['requests', 'tokens', unit])
  return `${Number.isFinite(share) ? Math.round(100 * share) : 100} % of its tightest limit used`
}

/** The tightest share of its per-minute limits that a deployment has used, for requests, tokens and the mode's unit. */
export function utilization({ deployment, signals }: Candidate, units: readonly (keyof typeof signals.used)[]): number {
  let tightest = 0
  for (const unit of units) {
    const limit = deployment.limits[unit]
    if (limit === undefined) continue
    const share = limit === 0 ? Number.POSITIVE_INFINITY : (signals.used[unit] ?? 0) / limit
    if (share > tightest) tightest = share
  }
  return tightest
}
