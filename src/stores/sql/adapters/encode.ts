import { SqlError } from '../sql.ts'

/** Encodes a parameter as text for Postgres, the same for every adapter: arrays become Postgres arrays, plain objects
 *  JSON, dates and bytes their text. The caller stringifies an array that is meant as JSON. Throws for a value that
 *  Postgres cannot hold, with the SQLSTATE that Postgres would send. */
export function encode(value: unknown): string | null {
  if (value === null) return null
  if (typeof value === 'string') return storable(value)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint8Array)
    return `\\x${Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
  if (value instanceof Date) return isoOf(value)
  if (Array.isArray(value)) return encodeArray(value)
  if (typeof value === 'object') return storable(JSON.stringify(value))
  throw new SqlError(`A ${typeof value} cannot be a parameter.`, '22023')
}

/** Throws for text that Postgres cannot store. Drivers differ for such text: one sends U+FFFD instead, another a broken
 *  statement. */
export function storable(text: string): string {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new SqlError('invalid byte sequence for encoding "UTF8"', '22021')
  }
  return text
}

/** Columns of the ledger are long, and JSON.stringify prints them several times faster than code could. */
function encodeArray(elements: readonly unknown[]): string {
  const inside = elements.every(isPrintedAlike)
    ? JSON.stringify(elements).slice(1, -1)
    : elements.map(elementOf).join(',')
  return `{${inside}}`
}

/** Whether Postgres reads an element in an array as JSON prints it. */
function isPrintedAlike(element: unknown): boolean {
  if (typeof element === 'string') return !UNLIKE.test(element)
  return element === null || typeof element === 'boolean' || Number.isFinite(element)
}

/** Control characters, for which JSON has letters, and surrogates, which may be no text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNLIKE = /[\u0000-\u001f\ud800-\udfff]/

function elementOf(value: unknown): string {
  const text = encode(value)
  if (text === null) return 'NULL'
  if (Array.isArray(value)) return text
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function isoOf(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new SqlError('invalid date', '22007')
  return date.toISOString()
}
