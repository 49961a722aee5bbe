/** A value as it is written: lists are kept as JSON, and an adapter takes an array for an array of SQL. */
export function stored(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value
}
