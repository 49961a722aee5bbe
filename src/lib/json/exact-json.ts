import { boundForeign } from './json-bounds.ts'
import { isRecord, type JsonRecord } from './lenient.ts'

/** What every runtime of the gateway has, and the library of the compiler does not know yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

/** No shorter integer is beyond the precision of a double. */
const LONG_DIGITS = 16
/** As it begins where it is no string. */
const LONG_NUMBER = /[[:,]\s*-?\d{16}/

/** Looking at each value costs ten times and more of what parsing does. In a longer document integers are rounded. */
const MOST_VALUES = 10_000

/** JSON.parse for what is written again elsewhere: an integer that a double would round, such as an id of 64 bits, is an
 *  object which JSON.stringify writes as it stood. It is no number to anybody who reads it. */
export function parseExactly(text: string): unknown {
  return hasLongInteger(text) && !hasManyValues(text) ? JSON.parse(text, exact) : JSON.parse(text)
}

/** JSON.parse of a document in which programs' own data stand as the members of some names: integers inside these objects
 *  and lists are as `parseExactly` has them, all others are rounded as usual. */
export function parseExactlyWithin(text: string, names: ReadonlySet<string>): unknown {
  return hasLongInteger(text) && LONG_NUMBER.test(text) && !hasManyValues(text)
    ? roundedOutside(names, JSON.parse(text, exact))
    : JSON.parse(text)
}

/** Whether so many digits stand together: one of them at an index that is looked at, so that a long text costs a part of
 *  its parsing, and a pattern would cost more than that. */
function hasLongInteger(text: string): boolean {
  for (let at = LONG_DIGITS - 1; at < text.length; at += LONG_DIGITS) {
    if (!isDigit(text.charCodeAt(at))) continue
    let [from, to] = [at, at + 1]
    while (isDigit(text.charCodeAt(from - 1))) from--
    while (isDigit(text.charCodeAt(to))) to++
    if (to - from >= LONG_DIGITS) return true
  }
  return false
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** By the commas and opening brackets outside of strings. */
function hasManyValues(text: string): boolean {
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if ((code === COMMA || code === OPEN_BRACKET || code === OPEN_BRACE) && ++values > MOST_VALUES) return true
  }
  return false
}

/** The index of the quote that closes a string; that of the text's end if there is none. */
function endOfString(text: string, opened: number): number {
  for (let at = text.indexOf('"', opened + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    if ((at - before) % 2 === 1) return at
  }
  return text.length
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b

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

/** The JSON object that the text or bytes hold; undefined when they hold anything else, or too many members. */
export function exactRecord(json: string | Uint8Array): JsonRecord | undefined {
  try {
    boundForeign(json)
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
