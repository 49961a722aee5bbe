let printedMs = Number.NaN
let printed = ''

/** A time in ISO 8601, in UTC. What a busy millisecond reports is printed once. */
export function isoTime(milliseconds: number): string {
  if (milliseconds !== printedMs) {
    printed = new Date(milliseconds).toISOString()
    printedMs = milliseconds
  }
  return printed
}
