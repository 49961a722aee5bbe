import { SqlError } from '../sql.ts'

/** A parameter as Postgres reads it in text, the same for every adapter: arrays become Postgres arrays, plain objects
 *  JSON (an array meant as JSON is the caller's to stringify), dates and bytes their text. What Postgres cannot hold is
 *  refused here with the SQLSTATE that it would answer. */
export function encode(value: unknown): string | null {
  if (value === null) return null
  if (typeof value === 'string') return storable(value)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint8Array)
    return `\\x${Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
  if (value instanceof Date) return isoOf(value)
  if (Array.isArray(value)) return `{${value.map(element).join(',')}}`
  if (typeof value === 'object') return storable(JSON.stringify(value))
  throw new SqlError(`A ${typeof value} cannot be a parameter.`, '22023')
}

/** Text that UTF-8 can carry and Postgres can keep. Drivers differ in what they do to the rest: one sends U+FFFD in its
 *  place, another a broken statement. */
export function storable(text: string): string {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new SqlError('invalid byte sequence for encoding "UTF8"', '22021')
  }
  return text
}

function element(value: unknown): string {
  // Whole columns of the ledger come this way, and few values need more than this.
  if (typeof value === 'number') return String(value)
  const text = encode(value)
  if (text === null) return 'NULL'
  if (Array.isArray(value)) return text
  return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`
}

function isoOf(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new SqlError('invalid date', '22007')
  return date.toISOString()
}
