import { otherOf } from '../../stores/kv/counted-series.ts'
import type { Metric } from './metric.ts'
import { boundText, type Family, labelText, named } from './render.ts'
import { labelSetLimit } from './series-limit.ts'

type Series = readonly [name: string, value: number]
type Counted = Readonly<Record<string, number>>

/** The counters grouped by metric. The buckets of a histogram are adjacent and ascending. */
export function families(metrics: readonly Metric[], counted: Counted): Family[] {
  const names = Object.keys(counted).sort()
  return metrics.map((metric) => {
    const { name, help, type } = metric
    const series = type === 'counter' ? counterSeries(metric, counted, names) : histogramSeries(metric, counted, names)
    return { name, help, type, series }
  })
}

function counterSeries(metric: Metric, counted: Counted, names: readonly string[]): Series[] {
  const { name, initial = [], scale = 1 } = metric
  const fold = foldedAbove(labelSetLimit(metric))
  const sums = new Map<string, number>()
  for (const labels of initial) sums.set(fold(labelText(labels)), 0)
  for (const one of of(name, names)) {
    const labels = fold(labelsOf(one))
    sums.set(labels, (sums.get(labels) ?? 0) + (counted[one] as number))
  }
  return [...sums].map(([labels, value]) => [named(name, labels), value / scale])
}

/** Counters hold each bucket separately, and the sum. The page needs cumulative buckets, the sum and the count. */
function histogramSeries(metric: Metric, counted: Counted, names: readonly string[]): Series[] {
  const { name, buckets = [] } = metric
  const bounds = [...buckets, Number.POSITIVE_INFINITY]
  const fold = foldedAbove(labelSetLimit(metric))
  const sets = new Map<string, { readonly hits: number[]; sum: number }>()
  const at = (labels: string) => {
    const folded = fold(labels)
    const set = sets.get(folded) ?? { hits: bounds.map(() => 0), sum: 0 }
    sets.set(folded, set)
    return set
  }
  for (const one of of(`${name}_bucket`, names)) {
    const [labels, bound] = withoutBound(labelsOf(one))
    const { hits } = at(labels)
    const index = bounds.findIndex((own) => bound <= own)
    hits[index] = (hits[index] as number) + (counted[one] as number)
  }
  for (const one of of(`${name}_sum`, names)) at(labelsOf(one)).sum += counted[one] as number

  const inBuckets: Series[] = []
  const sums: Series[] = []
  const counts: Series[] = []
  for (const [labels, { hits, sum }] of sets) {
    let upTo = 0
    for (const [index, bound] of bounds.entries()) {
      upTo += hits[index] as number
      inBuckets.push([named(`${name}_bucket`, withBound(labels, bound)), upTo])
    }
    sums.push([named(`${name}_sum`, labels), sum])
    counts.push([named(`${name}_count`, labels), upTo])
  }
  return [...inBuckets, ...sums, ...counts]
}

const of = (name: string, names: readonly string[]) => names.filter((one) => one === name || one.startsWith(`${name}{`))

/** Folds label sets above the limit into `other`: isolates share no memory, so that together they may exceed it. */
function foldedAbove(limit: number): (labels: string) => string {
  const kept = new Set<string>()
  return (labels) => {
    if (kept.size < limit - 1) kept.add(labels)
    return kept.has(labels) ? labels : otherOf(labels)
  }
}

const labelsOf = (series: string) => (series.endsWith('}') ? series.slice(series.indexOf('{') + 1, -1) : '')

/** The bound is always the last label. */
function withoutBound(labels: string): [labels: string, bound: number] {
  const at = labels.lastIndexOf('le="')
  const bound = labels.slice(at + 4, -1)
  return [labels.slice(0, Math.max(0, at - 1)), bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)]
}

const withBound = (labels: string, bound: number) => `${labels}${labels && ','}${labelText({ le: boundText(bound) })}`
