/** Money is counted in integer nano-dollars, so that sums are exact in any order. */
export const NANO = 1_000_000_000

/** Below this number the fifteenth digit is behind the point. */
const FRACTIONAL = 1e14
/** An upper bound of the share by which rounding to fifteen digits changes a number. */
const DOUBT = 1e-14

/** US dollars in nano-dollars, rounded to the nearest one after removing the error of binary fractions. */
export function nanoOf(dollars: number): number {
  const nano = dollars * NANO
  const nearest = Math.round(nano)
  // The error matters only close to the middle of two numbers. Elsewhere the costly toPrecision is left out.
  if (nano < FRACTIONAL && Math.abs(Math.abs(nano - nearest) - 0.5) > nano * DOUBT) return nearest
  return Math.min(Math.round(Number((dollars * NANO).toPrecision(15))), Number.MAX_SAFE_INTEGER)
}

/** Nano-dollars, also as text of a database, in US dollars. */
export function dollarsOf(nano: string | number): number {
  return Number(nano) / NANO
}
