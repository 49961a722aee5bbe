/** The most series of one metric, on its page and in the shared store; what is beyond them is counted as `other`. Isolates
 *  share no memory, so that each of them can only bound what it counts itself. */
export const MOST_SERIES = 2000

/** Counts by series. */
export interface Counted extends Iterable<[series: string, count: number]> {
  get(series: string): number | undefined
  has(series: string): boolean
  set(series: string, count: number): void
}

/** The field of the number of a metric's series, among its counters. */
export const sizeField = (metric: string) => `#${metric}`

/** Whether a field is a counter, and no number of series. */
export const isCounter = (field: string) => !field.startsWith('#')

/** The name of a metric, in the name of one of its series. */
const metricOf = (series: string) => series.split('{', 1)[0] as string

/** Labels, or a series with its labels, whose values have become `other`. The bound of a bucket stays. */
export function otherOf(labels: string): string {
  return labels.replace(/(\w+)="(?:[^"\\]|\\.)*"/g, (whole, label) => (label === 'le' ? whole : `${label}="other"`))
}

/** Adds to a counter, or to `other` of its metric where that has its series already. */
export function addTo(counters: Counted, series: string, amount: number): void {
  const add = (name: string, more: number) => counters.set(name, (counters.get(name) ?? 0) + more)
  if (counters.has(series)) return void add(series, amount)
  const size = sizeField(metricOf(series))
  const isOver = (counters.get(size) ?? 0) >= MOST_SERIES
  if (!isOver) add(size, 1)
  add(isOver ? otherOf(series) : series, amount)
}
