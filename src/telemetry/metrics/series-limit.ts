import type { Metric } from './metric.ts'

/** The most series of a metric; further ones are counted as `other`. */
export const SERIES_LIMIT = 2000

/** The most label sets of a metric, including `other`. A label set of a histogram has one series for each bucket and
 *  three more: the last bucket, the sum and the count. */
export function labelSetLimit({ type, buckets = [] }: Pick<Metric, 'type' | 'buckets'>): number {
  return type === 'counter' ? SERIES_LIMIT : Math.floor(SERIES_LIMIT / (buckets.length + 3))
}
