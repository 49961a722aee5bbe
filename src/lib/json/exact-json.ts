import { isRecord, type JsonRecord } from './lenient.ts'

/** What every runtime of the gateway has, and the library of the compiler does not know yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

/** No shorter integer is beyond the precision of a double. */
const LONG = /\d{16}/
/** As it begins where it is no string. */
const LONG_NUMBER = /[[:,]\s*-?\d{16}/

/** JSON.parse for what is written again elsewhere: an integer that a double would round, such as an id of 64 bits, is an
 *  object which JSON.stringify writes as it stood. It is no number to anybody who reads it. */
export function parseExactly(text: string): unknown {
  return LONG.test(text) ? JSON.parse(text, exact) : JSON.parse(text)
}

/** JSON.parse of a document in which programs' own data stand as the members of some names: integers inside these objects
 *  and lists are as `parseExactly` has them, all others are rounded as usual. */
export function parseExactlyWithin(text: string, names: ReadonlySet<string>): unknown {
  return LONG_NUMBER.test(text) ? roundedOutside(names, JSON.parse(text, exact)) : JSON.parse(text)
}

/** Whether JSON.stringify writes this object as a number. */
export const isExactInteger = (value: object): boolean => isRawJSON(value)

function roundedOutside(names: ReadonlySet<string>, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isRawJSON(value)) return Number(JSON.stringify(value))
  const members = value as Record<string, unknown>
  for (const [name, member] of Object.entries(members)) {
    if (typeof member !== 'object' || (names.has(name) && !isRawJSON(member))) continue
    const rounded = roundedOutside(names, member)
    if (rounded !== member) Object.defineProperty(members, name, { value: rounded })
  }
  return value
}

/** The JSON object that the text or bytes hold; undefined when they hold anything else. */
export function exactRecord(json: string | Uint8Array): JsonRecord | undefined {
  try {
    const value = parseExactly(typeof json === 'string' ? json : decoder.decode(json))
    return isRecord(value) && !isRawJSON(value) ? value : undefined
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder()

function exact(_key: string, value: unknown, { source = '' }: { readonly source?: string } = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return INTEGER.test(source) && String(value) !== source ? rawJSON(source) : value
}

const INTEGER = /^-?\d+$/
