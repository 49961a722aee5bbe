import type { TelemetryEvent } from '../events.ts'
import { ofLikeCalls } from '../like-calls.ts'
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

export function counters(metrics: readonly Metric[]): Counters {
  // The few that have grown since the last drain; all may be thousands.
  let grown: Counter[] = []
  function add(counter: Counter, value: number): void {
    if (value === 0) return
    if (counter.fresh === 0) grown.push(counter)
    counter.fresh += value
  }

  const families = metrics.map((metric) => ({ metric, cells: cellsOf(metric, add) }))
  const familiesOf = new Map<TelemetryEvent['type'], typeof families>()
  for (const family of families) {
    for (const type of family.metric.events) familiesOf.set(type, [...(familiesOf.get(type) ?? []), family])
  }
  /** The cells of like calls by the index of their family, as far as they have any. */
  const cellsOfCall = ofLikeCalls((): (Cell | undefined)[] => [])

  return {
    count(event) {
      const asked = familiesOf.get(event.type)
      if (!asked) return
      const known = event.type === 'call.finished' ? cellsOfCall(event) : []
      // No iterator: its pairs would be most of the garbage of a call.
      for (let index = 0; index < asked.length; index++) {
        const { metric, cells } = asked[index] as (typeof asked)[number]
        const value = metric.value(event)
        if (value === undefined) continue
        const cell = known[index] ?? cells.of(metric.labels(event))
        known[index] = cell
        cell.add(value)
      }
    },
    drain() {
      const growth: Record<string, number> = {}
      for (const counter of grown) {
        growth[counter.name] = counter.fresh
        counter.drained += counter.fresh
        counter.fresh = 0
      }
      grown = []
      return growth
    },
    all() {
      const series: Record<string, number> = {}
      for (const { cells } of families) {
        for (const cell of cells.values())
          for (const { name, drained, fresh } of cell.counters) series[name] = drained + fresh
      }
      return series
    },
  }
}

/** One series. */
interface Counter {
  readonly name: string
  drained: number
  /** The growth since the last drain. */
  fresh: number
}

/** One label set of one metric. */
interface Cell {
  readonly counters: readonly Counter[]
  add(value: number): void
}

type Add = (counter: Counter, value: number) => void

function cellsOf(metric: Metric, add: Add) {
  const cells = new Map<string, Cell>()
  const limit = labelSetLimit(metric)
  const make = metric.type === 'counter' ? counterCell : histogramCell
  function of(labels: Labels): Cell {
    const found = cells.get(keyOf(labels))
    if (found) return found
    const named = cells.size < limit - 1 ? labels : othersOf(labels)
    const key = keyOf(named)
    // Something may be named as the rest is: they are one series.
    const cell = cells.get(key) ?? make(metric, named, add)
    cells.set(key, cell)
    return cell
  }
  return { of, values: () => cells.values() }
}

const othersOf = (labels: Labels): Labels => Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))

function keyOf(labels: Labels): string {
  let key = ''
  for (const name in labels) key += `${labels[name]}\u0000`
  return key
}

function counterCell({ name }: Metric, labels: Labels, add: Add): Cell {
  const counter = newCounter(seriesName(name, labels))
  return { counters: [counter], add: (value) => add(counter, value) }
}

function histogramCell({ name, buckets: bounds = [] }: Metric, labels: Labels, add: Add): Cell {
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound) =>
    newCounter(seriesName(`${name}_bucket`, { ...labels, le: boundText(bound) })),
  )
  const sum = newCounter(seriesName(`${name}_sum`, labels))
  return {
    counters: [...buckets, sum],
    add(value) {
      let index = 0
      while (index < bounds.length && value > (bounds[index] as number)) index++
      add(buckets[index] as Counter, 1)
      add(sum, value)
    },
  }
}

const newCounter = (name: string): Counter => ({ name, drained: 0, fresh: 0 })
