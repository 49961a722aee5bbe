/** A value for a column. Lists are stored as JSON, while adapters encode arrays as arrays of SQL. */
export function stored(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value
}
