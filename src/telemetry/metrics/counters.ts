import type { TelemetryEvent } from '../events.ts'
import type { Labels, Metric } from './metric.ts'
import { seriesName } from './render.ts'
import { labelSetLimit } from './series-limit.ts'

/** Numbers that only grow, by the name of their series as it stands on the metrics page. */
export interface Counters {
  count(event: TelemetryEvent): void
  /** What was counted since the last call of this, for a store that adds up several isolates. */
  drain(): Record<string, number>
  /** Everything that was counted here. */
  all(): Record<string, number>
}

export function counters(metrics: readonly Metric[]): Counters {
  const families = metrics.map((metric) => ({ metric, cells: cellsOf(metric) }))
  let drained: Record<string, number> = {}

  function all(): Record<string, number> {
    const series: Record<string, number> = {}
    for (const { cells } of families) for (const cell of cells.values()) cell.read(series)
    return series
  }
  return {
    all,
    count(event) {
      for (const { metric, cells } of families) {
        for (const { labels, value } of metric.of(event)) cells.of(labels).add(value)
      }
    },
    drain() {
      const before = drained
      drained = all()
      const grown: Record<string, number> = {}
      for (const name in drained) {
        const growth = (drained[name] as number) - (before[name] ?? 0)
        if (growth !== 0) grown[name] = growth
      }
      return grown
    },
  }
}

/** One label set of one metric. */
interface Cell {
  add(value: number): void
  read(into: Record<string, number>): void
}

function cellsOf(metric: Metric) {
  const cells = new Map<string, Cell>()
  const limit = labelSetLimit(metric)
  const make = metric.type === 'counter' ? counterCell : histogramCell
  function of(labels: Labels): Cell {
    let key = ''
    for (const name in labels) key += `${labels[name]}\u0000`
    const found = cells.get(key)
    if (found) return found
    if (cells.size >= limit - 1) {
      const folded = Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))
      const other = cells.get('other') ?? make(metric, folded)
      cells.set('other', other)
      return other
    }
    const cell = make(metric, labels)
    cells.set(key, cell)
    return cell
  }
  return { of, values: () => cells.values() }
}

function counterCell(metric: Metric, labels: Labels): Cell {
  const name = seriesName(metric.name, labels)
  let total = 0
  return {
    add(value) {
      total += value
    },
    read(into) {
      into[name] = total
    },
  }
}

function histogramCell(metric: Metric, labels: Labels): Cell {
  const bounds = metric.buckets ?? []
  const names = [...bounds.map(String), '+Inf'].map((le) => seriesName(`${metric.name}_bucket`, { ...labels, le }))
  const hits = new Array<number>(bounds.length + 1).fill(0)
  let sum = 0
  return {
    add(value) {
      const index = bounds.findIndex((bound) => value <= bound)
      const at = index === -1 ? bounds.length : index
      hits[at] = (hits[at] as number) + 1
      sum += value
    },
    read(into) {
      let cumulative = 0
      for (const [index, name] of names.entries()) {
        cumulative += hits[index] as number
        into[name] = cumulative
      }
      into[seriesName(`${metric.name}_sum`, labels)] = sum
      into[seriesName(`${metric.name}_count`, labels)] = cumulative
    },
  }
}
