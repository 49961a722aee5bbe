import type { Counted } from '../counted-series.ts'
import type { Rows } from './rows.ts'

/** A write has the rows whose series were counted since, of which a call has few: those of its key and model are next to
 *  each other. All series of an installation with many keys are megabytes. */
const SERIES_A_ROW = 100

interface Row {
  readonly name: string
  readonly counts: Map<string, number>
}

/** The counters of metrics. They never end: of each metric there are so many at most. */
export function keptCounters(records: Rows) {
  const rows: Row[] = []
  const rowOf = new Map<string, Row>()
  const unwritten = new Set<Row>()

  function rowWithRoom(): Row {
    const last = rows.at(-1)
    if (last && last.counts.size < SERIES_A_ROW) return last
    const next = { name: nameOf(rows.length), counts: new Map<string, number>() }
    rows.push(next)
    return next
  }

  const counters: Counted = {
    get: (series) => rowOf.get(series)?.counts.get(series),
    has: (series) => rowOf.has(series),
    set(series, count) {
      const row = rowOf.get(series) ?? rowWithRoom()
      rowOf.set(series, row)
      row.counts.set(series, count)
      unwritten.add(row)
    },
    *[Symbol.iterator]() {
      for (const { counts } of rows) yield* counts
    },
  }

  let longest = 0
  for (let at = 0, kept = records.get(nameOf(0)); kept; kept = records.get(nameOf(++at))) {
    const read = Object.entries<number>(JSON.parse(kept.text))
    longest = Math.max(longest, read.length)
    for (const [series, count] of read) counters.set(series, count)
  }
  // Earlier builds have all series in the first row.
  if (longest <= SERIES_A_ROW) unwritten.clear()

  return {
    counters,
    write() {
      for (const { name, counts } of unwritten) {
        records.put(name, { text: JSON.stringify(Object.fromEntries(counts)), ends: Number.MAX_SAFE_INTEGER })
      }
      unwritten.clear()
    },
  }
}

const nameOf = (row: number) => (row === 0 ? 'counters' : `counters:${row}`)
