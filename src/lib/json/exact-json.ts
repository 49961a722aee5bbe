import { isRecord, type JsonRecord } from './lenient.ts'

/** What every runtime of the gateway has, and the library of the compiler does not know yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

/** No shorter integer is beyond the precision of a double. */
const LONG = /\d{16}/

/** JSON.parse for what is written again elsewhere: an integer that a double would round, such as an id of 64 bits, is an
 *  object which JSON.stringify writes as it stood. It is no number to anybody who reads it. */
export function parseExactly(text: string): unknown {
  return LONG.test(text) ? JSON.parse(text, exact) : JSON.parse(text)
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
