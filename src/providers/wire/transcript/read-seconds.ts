/** Longer than any recording. */
const MOST = 1e9

/** A time in seconds that a vendor reports, some as text; undefined for anything that is not a plausible time. */
export function readSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 && seconds <= MOST ? seconds : undefined
}
