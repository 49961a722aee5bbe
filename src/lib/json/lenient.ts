import { boundForeign } from './json-bounds.ts'

/** Reads foreign JSON leniently: a member of another type counts as absent, and nothing throws. */
export type JsonRecord = Readonly<Record<string, unknown>>

const decoder = new TextDecoder()
const NOTHING: JsonRecord = {}
const NO_ITEMS: readonly unknown[] = []

export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : NOTHING
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ITEMS
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The entry of a table by a foreign name; never an inherited member. */
export function entryOf<Value>(table: Readonly<Record<string, Value>>, word: unknown): Value | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined
}

/** Whether a record has something under any of some names. By its own few members: the names may be many. */
export function hasAnyOf(record: JsonRecord, names: ReadonlySet<string>): boolean {
  for (const name in record) {
    if (!names.has(name)) continue
    const value = record[name]
    if (value !== undefined && value !== null) return true
  }
  return false
}

/** The JSON list that the text holds; an empty one when it holds anything else. */
export function parseList(json: string): readonly unknown[] {
  try {
    return asList(JSON.parse(json))
  } catch {
    return []
  }
}

/** The JSON object that the text or bytes hold; undefined when they hold anything else, or too many members. */
export function parseRecord(json: string | Uint8Array): JsonRecord | undefined {
  try {
    boundForeign(json)
    const value: unknown = JSON.parse(typeof json === 'string' ? json : decoder.decode(json))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
