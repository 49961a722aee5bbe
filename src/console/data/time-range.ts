import { useEffect, useState } from 'preact/hooks'
import { type Params, useParams } from './params.ts'
import { useSettings } from './settings.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Ranges by their names in the address. */
export const RANGES = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  month: 'This month',
  'last-month': 'Last month',
} as const
export type RangeName = keyof typeof RANGES

export interface TimeRange {
  /** As the API takes it; `to` is exclusive. */
  readonly from: string
  readonly to: string
  readonly name: RangeName | 'custom'
  /** It goes up to now. */
  readonly open: boolean
  set(name: RangeName): void
  setCustom(from: Date, to: Date): void
  /** As far back or forward as it is long. */
  shift(by: 1 | -1): void
}

/** The range of time that the address names: `range=24h`, or `from=` and `to=`. With `hours` its ends are whole hours, as the
 *  sums of the gateway have them; with `minutes` one of less than an hour is as exact as it was given. */
export function useTimeRange(
  otherwise: RangeName = '24h',
  { hours = false, minutes = false }: { readonly hours?: boolean; readonly minutes?: boolean } = {},
): TimeRange {
  const params = useParams()
  const { zone } = useSettings()
  const now = useNow(hours ? 60_000 : 10_000)
  const given = params.get('range')
  const [from, to] = [Date.parse(params.get('from')), Date.parse(params.get('to'))]
  const custom = from < to
  const name: TimeRange['name'] = custom ? 'custom' : given in RANGES ? (given as RangeName) : otherwise
  const ends = custom ? { from, to } : endsOf(name as RangeName, now, zone)
  const isExact = !hours || (minutes && custom && lengthOf(ends) < HOUR)
  const whole = isExact ? ends : { from: Math.floor(ends.from / HOUR) * HOUR, to: Math.ceil(ends.to / HOUR) * HOUR }
  const setCustom = (first: Date, last: Date) =>
    params.set({ range: undefined, from: first.toISOString(), to: last.toISOString() })
  return {
    from: new Date(whole.from).toISOString(),
    to: new Date(whole.to).toISOString(),
    name,
    open: whole.to >= now,
    set: (next) => params.set({ range: next === otherwise ? undefined : next, from: undefined, to: undefined }),
    setCustom,
    shift(by) {
      const length = lengthOf(whole)
      setCustom(new Date(whole.from + by * length), new Date(whole.to + by * length))
    },
  }
}

const lengthOf = ({ from, to }: { readonly from: number; readonly to: number }) => to - from

function endsOf(name: RangeName, now: number, zone: 'local' | 'utc'): { readonly from: number; readonly to: number } {
  const back = { '1h': HOUR, '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY }[name as string]
  if (back !== undefined) return { from: now - back, to: now }
  const today = new Date(now)
  const first = (monthsBack: number) =>
    zone === 'utc'
      ? Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsBack, 1)
      : new Date(today.getFullYear(), today.getMonth() - monthsBack, 1).getTime()
  return name === 'month' ? { from: first(0), to: now } : { from: first(1), to: first(0) }
}

/** Now, to the given step: what is asked for stays the same in between. */
export function useNow(stepMs: number): number {
  const rounded = () => Math.ceil(Date.now() / stepMs) * stepMs
  const [now, setNow] = useState(rounded)
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && setNow(rounded()), stepMs)
    return () => clearInterval(timer)
  }, [stepMs])
  return now
}

/** The same range in the query of a link to another page. */
export const rangeParams = (params: Params): Record<string, string> =>
  Object.fromEntries(
    ['range', 'from', 'to'].map((name) => [name, params.get(name)] as const).filter(([, value]) => value),
  )
