import type { Window } from './shared-store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** When a window that is opened at `now` ends: the minute 60 s from its first hit, the hour at the end of the clock
 *  hour, the day at midnight UTC. */
export function windowEnd(window: Window, now: number): number {
  if (window === 'minute') return now + MINUTE_MS
  const length = window === 'hour' ? HOUR_MS : DAY_MS
  return Math.floor(now / length) * length + length
}

/** Whether a window that ends then is open, where one opened now ends at `latest`. One that would end later was opened
 *  before the clock was set back, and is over: no caller has to wait until the clock is there again. */
export const isOpen = (ends: number, latest: number, now: number) => ends > now && ends <= latest

/** Whether a period of a budget, named by its begin in ISO 8601, is yet to begin: it was opened before the clock was set
 *  back. */
export const isYetToBegin = (period: string, now: number) => period.endsWith('Z') && Date.parse(period) > now

/** The store counts in whole milliseconds. */
export const milliseconds = (seconds: number) => Math.round(seconds * 1000)
