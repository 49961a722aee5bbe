import type { Metric } from './metric.ts'

/** At most this many series a metric; what comes later is counted as `other`. */
export const SERIES_LIMIT = 2000

/** How many label sets of a metric fit under the limit, the one of `other` among them. A histogram's takes one series a
 *  bucket and three more: the last bucket, the sum, the count. */
export function labelSetLimit({ type, buckets = [] }: Pick<Metric, 'type' | 'buckets'>): number {
  return type === 'counter' ? SERIES_LIMIT : Math.floor(SERIES_LIMIT / (buckets.length + 3))
}
