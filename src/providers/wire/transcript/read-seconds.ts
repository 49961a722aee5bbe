/** Longer than any recording. */
const MOST = 1e9

/** A time in seconds that a vendor reports; undefined for anything that is not a plausible time. */
export function readSeconds(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST ? value : undefined
}
