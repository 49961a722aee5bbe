import { duration } from './format.ts'

const plain = new Intl.NumberFormat('en-US')
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

/** 9,999, then 10K. */
export const short = (value: number): string => (Math.abs(value) < 10_000 ? plain.format(value) : compact.format(value))

/** 12.5 % */
export const share = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${(Math.round((1000 * part) / whole) / 10).toFixed(1).replace(/\.0$/, '')} %`

/** The bounds between which the distribution of times is kept. */
const [SHORTEST_MS, LONGEST_MS] = [50, 102_400]

/** A percentile of times, which is known between two bounds. */
export function percentile(ms: number | null): string {
  if (ms === null) return '–'
  if (ms <= SHORTEST_MS) return `≤ ${duration(SHORTEST_MS)}`
  return ms >= LONGEST_MS ? `> ${duration(LONGEST_MS)}` : duration(ms)
}
