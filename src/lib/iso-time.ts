let printedMs = Number.NaN
let printed = ''

/** A time in ISO 8601, in UTC. The last result is reused: a busy process asks many times for one millisecond. */
export function isoTime(milliseconds: number): string {
  if (milliseconds !== printedMs) {
    printed = new Date(milliseconds).toISOString()
    printedMs = milliseconds
  }
  return printed
}
