import { asRecord, type JsonRecord } from './lenient.ts'

/** A record with its own members in camel case: some APIs read both spellings. Of two spellings the camel case counts. */
export function camelCase(value: unknown): JsonRecord {
  const record = asRecord(value)
  for (const name in record) if (name.includes('_')) return renamed(record)
  return record
}

function renamed(record: JsonRecord): JsonRecord {
  const entries = Object.entries(record).map(([name, value]) => [camelName(name), value, name.includes('_')] as const)
  // The last one of a name stays.
  const ordered = [...entries.filter(([, , snake]) => snake), ...entries.filter(([, , snake]) => !snake)]
  return Object.fromEntries(ordered)
}

export function camelName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** By their camel case, the names that our own code asks for, which are few. */
const asked = new Map<string, string>()

function snakeNameOf(name: string): string {
  let snake = asked.get(name)
  if (snake === undefined) {
    snake = snakeName(name)
    asked.set(name, snake)
  }
  return snake
}

/** The member of a record in either spelling, by a name of our own. Others are not read. */
export function eitherCase(record: JsonRecord, name: string): unknown {
  return record[name] ?? record[snakeNameOf(name)]
}

/** The name of our own under which a record has a member; in camel case where it has none. */
export function spelledIn(record: JsonRecord, name: string): string {
  const snake = snakeNameOf(name)
  return record[name] === undefined && record[snake] !== undefined ? snake : name
}
