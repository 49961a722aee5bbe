import type { Metric } from './metric.ts'
import type { Family } from './render.ts'

/** Counted series under the heads of their metrics. A histogram's buckets stand together, ascending. */
export function families(metrics: readonly Metric[], counted: Readonly<Record<string, number>>): Family[] {
  const names = Object.keys(counted)
  return metrics.map((metric) => {
    const own =
      metric.type === 'counter' ? [metric.name] : ['_bucket', '_sum', '_count'].map((part) => metric.name + part)
    const series = own.flatMap((name) =>
      names
        .filter((series) => series === name || series.startsWith(`${name}{`))
        .sort(bySeries)
        .map((series) => [series, counted[series] as number] as const),
    )
    return { name: metric.name, help: metric.help, type: metric.type, series }
  })
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
