import type { SpendRow } from './spend-row.ts'

/** The upper bounds of the buckets of latencies, in milliseconds; the last bucket has none. They never change: counts of
 *  buckets are added up over all times. */
export const LATENCY_BOUNDS = [50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400] as const
type Bound = (typeof LATENCY_BOUNDS)[number]

/** The latencies whose distribution is kept: of the whole answer, and of its first token. */
export const LATENCIES = ['total_ms', 'first_token_ms'] as const
export type Latency = (typeof LATENCIES)[number]

/** The column of a bucket: `total_ms_50` counts the calls of up to 50 ms. */
export type LatencySum = `${Latency}_${Bound | 'more'}`

/** The columns of a latency, from the fastest bucket to the slowest. */
export function bucketsOf(latency: Latency): LatencySum[] {
  return [...LATENCY_BOUNDS.map((bound) => `${latency}_${bound}` as const), `${latency}_more`]
}

/** All buckets of all latencies. */
export const LATENCY_SUMS: ReadonlySet<string> = new Set(LATENCIES.flatMap(bucketsOf))

/** The index among the buckets of a latency of the one that counts a call; undefined if none does. Only calls that a
 *  provider has answered whole are counted, for failures and answers from the cache are faster or slower than any
 *  model. */
export function bucketOf(row: SpendRow, latency: Latency): number | undefined {
  const ms = row[latency]
  if (ms === null || row.ending !== 'answered' || row.cache === 'hit') return undefined
  let index = 0
  while (ms > (LATENCY_BOUNDS[index] ?? Number.POSITIVE_INFINITY)) index++
  return index
}
