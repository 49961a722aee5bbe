/** Money is counted in integer nano-dollars: sums of them are exact, whatever their order. */
export const NANO = 1_000_000_000

/** Below this the fifteenth digit is behind the point. */
const FRACTIONAL = 1e14
/** More than the fifteenth digit can move of a number. */
const DOUBT = 1e-14

/** US dollars in nano-dollars, to the nearest one. What binary fractions add to a decimal price is cut off first. */
export function nanoOf(dollars: number): number {
  const nano = dollars * NANO
  const nearest = Math.round(nano)
  // Cutting off decides only about what is all but halfway between two, and printing a number costs more than the rest.
  if (nano < FRACTIONAL && Math.abs(Math.abs(nano - nearest) - 0.5) > nano * DOUBT) return nearest
  return Math.min(Math.round(Number((dollars * NANO).toPrecision(15))), Number.MAX_SAFE_INTEGER)
}

/** Nano-dollars, as a database prints them, in US dollars. */
export function dollarsOf(nano: string | number): number {
  return Number(nano) / NANO
}
