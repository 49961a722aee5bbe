import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'

// Clients check a list of tools as a whole: what is malformed in one tool of one server would hide all tools of all servers
// from them. What is of another type than the protocol says counts as absent.

/** A JSON Schema of an object; undefined for any other. */
export function objectSchema(schema: unknown): JsonRecord | undefined {
  if (!isRecord(schema) || schema.type !== 'object') return undefined
  const members = Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'properties') return isRecord(value) ? [[name, propertiesOf(value)]] : []
    if (name === 'required') return Array.isArray(value) ? [[name, value.filter(isText)]] : []
    return [[name, value]]
  })
  return Object.fromEntries(members)
}

const propertiesOf = (schemas: JsonRecord) => Object.fromEntries(Object.entries(schemas).map(property))

/** The schemas that are written as true and false are not known to all clients. */
function property([name, schema]: [string, unknown]): [string, object] {
  if (isRecord(schema)) return [name, schema]
  return [name, schema === false ? { not: {} } : {}]
}

const ANNOTATIONS: ReadonlyMap<string, string> = new Map([
  ['title', 'string'],
  ['readOnlyHint', 'boolean'],
  ['destructiveHint', 'boolean'],
  ['idempotentHint', 'boolean'],
  ['openWorldHint', 'boolean'],
])

export function annotationsOf(annotations: JsonRecord): JsonRecord {
  const isKept = ([name, value]: [string, unknown]) => (ANNOTATIONS.get(name) ?? typeof value) === typeof value
  return Object.fromEntries(Object.entries(annotations).filter(isKept))
}

export function iconsOf(icons: readonly unknown[]): readonly unknown[] {
  return icons.filter((icon) => isRecord(icon) && isIcon(icon))
}

function isIcon({ src, mimeType = '', sizes = [], theme = 'light' }: JsonRecord): boolean {
  return isText(src) && isText(mimeType) && isTexts(sizes) && (theme === 'light' || theme === 'dark')
}

const TASK_SUPPORT: ReadonlySet<unknown> = new Set(['required', 'optional', 'forbidden', undefined])

export function isExecution({ taskSupport }: JsonRecord): boolean {
  return TASK_SUPPORT.has(taskSupport)
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
