import type { Metric } from './metric.ts'
import { type Family, seriesName } from './render.ts'
import { labelSetLimit } from './series-limit.ts'

type Series = readonly [name: string, value: number]

/** Counted series under the heads of their metrics. A histogram's buckets stand together, ascending. */
export function families(metrics: readonly Metric[], counted: Readonly<Record<string, number>>): Family[] {
  const names = Object.keys(counted)
  return metrics.map((metric) => {
    const { name, help, type, scale = 1 } = metric
    const own = type === 'counter' ? [name] : ['_bucket', '_sum', '_count'].map((part) => name + part)
    const series = own.flatMap((prefix) => {
      const found = names.filter((one) => one === prefix || one.startsWith(`${prefix}{`))
      return folded(found.sort(bySeries), counted, labelSetLimit(metric)).map(
        ([one, value]): Series => [one, value / scale],
      )
    })
    return { name, help, type, series: [...initial(metric, counted), ...series] }
  })
}

function initial({ name, initial }: Metric, counted: Readonly<Record<string, number>>): Series[] {
  if (!initial) return []
  const series = seriesName(name, initial)
  return series in counted ? [] : [[series, 0]]
}

/** Isolates that share no memory do not know each other's label sets: what is too many in all of them together is folded
 *  into `other` here. */
function folded(names: readonly string[], counted: Readonly<Record<string, number>>, limit: number): Series[] {
  const kept = new Set<string>()
  const sums = new Map<string, number>()
  for (const name of names) {
    const [labels] = split(name)
    if (kept.size < limit - 1) kept.add(labels)
    const series = kept.has(labels) ? name : name.replace(/([,{])(?!le=)(\w+)="(?:[^"\\]|\\.)*"/g, '$1$2="other"')
    sums.set(series, (sums.get(series) ?? 0) + (counted[name] as number))
  }
  return [...sums]
}

function bySeries(a: string, b: string): number {
  const [labelsA, boundA] = split(a)
  const [labelsB, boundB] = split(b)
  if (labelsA !== labelsB) return labelsA < labelsB ? -1 : 1
  return boundA - boundB
}

function split(series: string): [labels: string, bound: number] {
  const at = series.lastIndexOf('le="')
  if (at === -1) return [series, 0]
  const bound = series.slice(at + 4, series.lastIndexOf('"'))
  return [series.slice(0, at), bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)]
}
