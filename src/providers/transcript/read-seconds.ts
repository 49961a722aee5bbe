/** A time in seconds, whatever was sent in its place; undefined when it is none. */
export function readSeconds(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
