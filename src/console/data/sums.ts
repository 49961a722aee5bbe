import { dayAndTime } from '../design/format.ts'
import type { Row } from './client.ts'
import type { TimeRange } from './time-range.ts'

/** Sums of calls, as reports have them. */
export type Sums = Row<'GET /ui/api/spend/report'>
/** As summaries have them. */
export type Totals = Omit<Sums, 'group' | 'group_name' | 'split' | 'split_name' | 'split_other'>

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The longest range that can be shown by hours. */
const MOST_HOURS = 14 * 24
const USUAL_HOURS = 72

export type Step = 'hour' | 'day'
type Ends = Pick<TimeRange, 'from' | 'to'>

const lengthOf = ({ from, to }: Ends) => Date.parse(to) - Date.parse(from)
export const canBeHours = (range: Ends): boolean => lengthOf(range) <= MOST_HOURS * HOUR

/** By which a range is split: the wish, or else hours for the few days that one looks at closely. */
export function stepOf(range: Ends, wish: string): Step {
  if (wish === 'day' || !canBeHours(range)) return 'day'
  return wish === 'hour' || lengthOf(range) <= USUAL_HOURS * HOUR ? 'hour' : 'day'
}

/** The moments of a range, also those without calls, each as the number that its hour or day (of UTC) begins with. */
export function momentsOf({ from, to }: Ends, step: Step): readonly number[] {
  const length = step === 'hour' ? HOUR : DAY
  const first = Math.floor(Date.parse(from) / length) * length
  const count = Math.max(1, Math.ceil((Date.parse(to) - first) / length))
  return Array.from({ length: count }, (_, at) => first + at * length)
}

export const momentEnds = (moment: number, step: Step): number => moment + (step === 'hour' ? HOUR : DAY)

const DAY_OF_UTC = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const
const dayOfUtc = new Intl.DateTimeFormat('en-GB', DAY_OF_UTC)
const dayAndYear = new Intl.DateTimeFormat('en-GB', { ...DAY_OF_UTC, year: '2-digit' })

/** Its name on the axis; the year where it is not this one. */
export function momentName(moment: number, step: Step): string {
  if (step === 'hour') return dayAndTime(moment)
  const isThisYear = new Date(moment).getUTCFullYear() === new Date().getUTCFullYear()
  return (isThisYear ? dayOfUtc : dayAndYear).format(moment)
}

/** A series of one value for each moment, of the rows of a report by time: the sum of all rows of a moment. `null`:
 *  what the value is where there are no calls. */
export function valuesOf(
  rows: readonly Sums[],
  moments: readonly number[],
  value: (sums: Sums) => number | null,
  without: 0 | null = 0,
): Array<number | null> {
  const at = new Map<number, number>()
  for (const row of rows) {
    const own = value(row)
    if (own === null || row.group === null) continue
    const moment = Date.parse(row.group)
    at.set(moment, (at.get(moment) ?? 0) + own)
  }
  return moments.map((moment) => at.get(moment) ?? without)
}

/** The rows of a report that is split, by what splits it: in the order of the greatest, the others at the end. */
export function bySplit(
  rows: readonly Sums[],
): ReadonlyArray<{ readonly split: Split; readonly rows: readonly Sums[] }> {
  const found = new Map<string, { readonly split: Split; readonly rows: Sums[] }>()
  for (const row of rows) {
    const { split = null, split_name: name = null, split_other: other = false } = row
    const id = JSON.stringify([split, other])
    const known = found.get(id) ?? { split: { value: split, name, other }, rows: [] }
    known.rows.push(row)
    found.set(id, known)
  }
  const spent = (own: readonly Sums[]) => own.reduce((sum, { spend }) => sum + spend, 0)
  return [...found.values()].toSorted(
    (a, b) => Number(a.split.other) - Number(b.split.other) || spent(b.rows) - spent(a.rows),
  )
}

export interface Split {
  readonly value: string | null
  readonly name: string | null
  /** Everything beyond the greatest. */
  readonly other: boolean
}

/** The change of a number against the one before, which is not 0. */
export function changeOf(now: number, before: number): string {
  const percent = Math.round((100 * (now - before)) / before)
  if (percent === 0) return '±0 %'
  return percent > 999 ? `${Math.round(now / before)} times` : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
}
