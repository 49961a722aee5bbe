import { clock, day, dayAndTime } from './format.ts'

const PERIODS: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  mo: 'month',
  y: 'year',
}

/** The period of a budget, `30d`, in words. */
export const period = (text: string): string =>
  text.replace(/^(\d+)(\D+)$/, (_, count, unit) => `${count} ${PERIODS[unit] ?? unit}${count === '1' ? '' : 's'}`)

/** The time alone for what was today. */
export const recent = (at: string | number): string => (day(at) === day(Date.now()) ? clock(at) : dayAndTime(at))
