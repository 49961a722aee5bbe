import type { TelemetryEvent } from '../events.ts'
import { type CallLabel, callSeries } from './call-labels.ts'
import type { Labels, Metric } from './metric.ts'
import { boundText, seriesName } from './render.ts'
import { labelSetLimit } from './series-limit.ts'

/** Counters by the name of their series on the metrics page. A histogram has a counter for its sum and one for each
 *  bucket, which does not include the buckets below. */
export interface Counters {
  count(event: TelemetryEvent): void
  /** The growth since the last drain, for a store that sums several isolates. */
  drain(): Record<string, number>
  /** The totals. */
  all(): Record<string, number>
}

/** The number of label sets of calls whose cells are cached. */
const SERIES_KEPT = 5000

/** `labels`: the call labels that the metrics have. */
export function counters(metrics: readonly Metric[], labels?: readonly CallLabel[]): Counters {
  const seriesOf = callSeries(labels)
  const families = metrics.map((metric) => ({ metric, cells: cellsOf(metric) }))
  const ofCalls = new Map<string, (Cell | undefined)[]>()
  // The few cells that have grown since the last drain; all cells may be thousands.
  let grown = new Set<Cell>()

  /** The cached cells of an event's label set, in the order of the metrics. */
  function knownFor(event: TelemetryEvent): (Cell | undefined)[] {
    if (event.type !== 'call.finished') return []
    const series = seriesOf(event)
    const found = ofCalls.get(series)
    if (found) return found
    if (ofCalls.size === SERIES_KEPT) ofCalls.clear()
    const none: (Cell | undefined)[] = families.map(() => undefined)
    ofCalls.set(series, none)
    return none
  }

  return {
    count(event) {
      const known = knownFor(event)
      // No iterator: its pairs would be most of the garbage of a call.
      for (let index = 0; index < families.length; index++) {
        const { metric, cells } = families[index] as (typeof families)[number]
        const value = metric.value(event)
        if (value === undefined) continue
        const cell = known[index] ?? cells.of(metric.labels(event))
        known[index] = cell
        cell.add(value)
        grown.add(cell)
      }
    },
    drain() {
      const growth: Record<string, number> = {}
      for (const cell of grown) cell.drain(growth)
      grown = new Set()
      return growth
    },
    all() {
      const series: Record<string, number> = {}
      for (const { cells } of families) for (const cell of cells.values()) cell.read(series)
      return series
    },
  }
}

/** One label set of one metric. */
interface Cell {
  add(value: number): void
  /** Adds the growth since the last drain to `into`. */
  drain(into: Record<string, number>): void
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
  return counter(seriesName(metric.name, labels))
}

function histogramCell(metric: Metric, labels: Labels): Cell {
  const bounds = [...(metric.buckets ?? []), Number.POSITIVE_INFINITY]
  const buckets = bounds.map((bound) =>
    counter(seriesName(`${metric.name}_bucket`, { ...labels, le: boundText(bound) })),
  )
  const sum = counter(seriesName(`${metric.name}_sum`, labels))
  return {
    add(value) {
      buckets[bounds.findIndex((bound) => value <= bound)]?.add(1)
      sum.add(value)
    },
    drain(into) {
      for (const bucket of buckets) bucket.drain(into)
      sum.drain(into)
    },
    read(into) {
      for (const bucket of buckets) bucket.read(into)
      sum.read(into)
    },
  }
}

/** A single counter. */
function counter(name: string): Cell {
  let drained = 0
  let fresh = 0
  return {
    add(value) {
      fresh += value
    },
    drain(into) {
      if (fresh === 0) return
      into[name] = fresh
      drained += fresh
      fresh = 0
    },
    read(into) {
      into[name] = drained + fresh
    },
  }
}
