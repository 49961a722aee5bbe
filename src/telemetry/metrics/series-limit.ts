import { MOST_SERIES } from '../../stores/kv/counted-series.ts'
import type { Metric } from './metric.ts'

/** The most label sets of a metric, including `other`. A label set of a histogram has one series for each bucket and
 *  three more: the last bucket, the sum and the count. */
export function labelSetLimit({ type, buckets = [] }: Pick<Metric, 'type' | 'buckets'>): number {
  return type === 'counter' ? MOST_SERIES : Math.floor(MOST_SERIES / (buckets.length + 3))
}
