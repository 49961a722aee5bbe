import { day, dayAndTime, formatted } from './format.ts'

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

/** 00:12:05 */
const clock = formatted({ hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** The time alone for what was today. */
export const recent = (at: string | number): string => (day(at) === day(Date.now()) ? clock(at) : dayAndTime(at))
