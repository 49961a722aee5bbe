import { settingsNow } from '../data/settings.ts'

const money4 = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', minimumFractionDigits: 4 })
const money2 = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const limits = new Intl.NumberFormat('en-US', { maximumFractionDigits: 9 })
const plain = new Intl.NumberFormat('en-US')

/** Dollars: four digits under a dollar, two above; what has no price says so. */
export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return 'no price'
  if (dollars === 0) return '$0'
  if (Math.abs(dollars) < 0.0001) return dollars < 0 ? '−<$0.0001' : '<$0.0001'
  return (Math.abs(dollars) < 1 ? money4 : money2).format(dollars)
}

/** Dollars of a limit, with no more digits than were entered. */
export const budget = (dollars: number): string => `$${limits.format(dollars).replace(/\.\d$/, '$&0')}`

export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : plain.format(value)

/** A length of time: 840 ms, 3.2 s, 4 min, 2 h, 3 d. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
}

/** How long ago, or until when. */
export function ago(at: string | number): string {
  const distance = Date.now() - new Date(at).getTime()
  const length = Math.abs(distance)
  if (length < 5_000) return 'now'
  // Seconds are told of the last minute only.
  const words = length >= 60_000 && length < 120_000 ? '1 min' : duration(length)
  return distance > 0 ? `${words} ago` : `in ${words}`
}

const ZONES = { utc: { timeZone: 'UTC' }, local: {} }

/** A formatter costs a hundred times what it formats: one is made for each zone. */
export function formatted(options: Intl.DateTimeFormatOptions) {
  const made = new Map<keyof typeof ZONES, Intl.DateTimeFormat>()
  return (at: string | number): string => {
    const { zone } = settingsNow()
    const format = made.get(zone) ?? new Intl.DateTimeFormat('en-GB', { ...options, ...ZONES[zone] })
    made.set(zone, format)
    return format.format(new Date(at))
  }
}

/** 23 Nov 2026, 00:12:05 */
export const moment = formatted({ dateStyle: 'medium', timeStyle: 'medium' })
/** 23 Nov, 00:12 */
export const dayAndTime = formatted({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
/** 23 Nov 2026 */
export const day = formatted({ dateStyle: 'medium' })
const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'local time'
export const zoneName = (): string => (settingsNow().zone === 'utc' ? 'UTC' : localZone)
