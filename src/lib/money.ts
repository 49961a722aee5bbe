/** Money is counted in integer nano-dollars: sums of them are exact, whatever their order. */
export const NANO = 1_000_000_000

/** US dollars in nano-dollars, to the nearest one. What binary fractions add to a decimal price is cut off first. */
export function nanoOf(dollars: number): number {
  return Math.min(Math.round(Number((dollars * NANO).toPrecision(15))), Number.MAX_SAFE_INTEGER)
}

/** Nano-dollars, as a database prints them, in US dollars. */
export function dollarsOf(nano: string | number): number {
  return Number(nano) / NANO
}
