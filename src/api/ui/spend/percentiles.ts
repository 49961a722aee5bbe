import * as z from 'zod'
import { bucketsOf, LATENCY_BOUNDS, type Latency } from '../../../stores/sql/spend/latency-sums.ts'
import type { Sums } from '../../../stores/sql/spend/spend-reports.ts'

const SHARES = { p50: 0.5, p95: 0.95, p99: 0.99 } as const

/** The fields of a latency's percentiles. */
export function percentileFields(name: string, what: string): Record<string, z.ZodType> {
  const described = (share: string) => z.number().nullable().describe(`${what} ${share} in milliseconds, ${HOW}`)
  return Object.fromEntries(
    Object.entries(SHARES).map(([key, share]) => [`${name}${key}_ms`, described(`of ${100 * share} % of the calls`)]),
  )
}

const HOW = `estimated within buckets that double, ${LATENCY_BOUNDS[0]} where it is at most that; of calls that a provider answered, null without any.`

/** The percentiles of a latency by its buckets. */
export function percentilesOf(name: string, latency: Latency, sums: Sums): Record<string, number | null> {
  const counts = bucketsOf(latency).map((bucket) => Number(sums[bucket]))
  return Object.fromEntries(
    Object.entries(SHARES).map(([key, share]) => [`${name}${key}_ms`, percentile(counts, share)]),
  )
}

/** The latency that a share of the calls does not exceed, interpolated linearly within a bucket. In the first and the
 *  unbounded last bucket it is the bound. */
export function percentile(counts: readonly number[], share: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  const wanted = share * all
  let below = 0
  for (const [index, count] of counts.entries()) {
    const lower = LATENCY_BOUNDS[index - 1] ?? 0
    const upper = LATENCY_BOUNDS[index]
    if (count > 0 && below + count >= wanted) {
      if (upper === undefined) return lower
      if (index === 0) return upper
      return Math.round(lower + ((upper - lower) * (wanted - below)) / count)
    }
    below += count
  }
  return LATENCY_BOUNDS[LATENCY_BOUNDS.length - 1] ?? null
}
