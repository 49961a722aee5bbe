/** Longer than any recording. */
const MOST = 1e9

/** A time in seconds, whatever was sent in its place; undefined when it is none. */
export function readSeconds(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST ? value : undefined
}
