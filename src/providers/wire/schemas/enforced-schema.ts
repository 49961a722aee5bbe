import { asList, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'

/** The members of a schema that Claude and the models of Bedrock are held to, or that constrain nothing. */
const ENFORCED: ReadonlySet<string> = new Set([
  ...['type', 'title', 'description', 'default', 'enum', 'const', 'required', 'additionalProperties', 'items'],
  ...['anyOf', 'allOf', '$ref', '$defs', 'definitions', 'properties'],
])
const FORMATS: ReadonlySet<unknown> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
])
/** Name the language of a schema and constrain nothing. */
const SILENT: ReadonlySet<string> = new Set(['$schema', '$id', '$comment'])

const BESIDE_REFERENCES: ReadonlySet<string> = new Set(['$ref', '$defs', 'definitions'])

/** A schema that Anthropic and Bedrock enforce. They refuse open objects, and most bounds of values: objects are
 *  closed, and the description has the bounds. */
export function enforcedSchema(schema: JsonRecord): JsonRecord {
  const written: Record<string, unknown> = {}
  const told: string[] = []
  const { oneOf, ...rest } = schema
  const given: JsonRecord = Array.isArray(oneOf) && rest.anyOf === undefined ? { ...rest, anyOf: oneOf } : schema
  for (const [name, value] of Object.entries(given)) {
    // Beside a reference the vendors know definitions alone.
    if (SILENT.has(name) || (given.$ref !== undefined && !BESIDE_REFERENCES.has(name))) continue
    if (isEnforced(name, value)) written[name] = inner(name, value)
    else told.push(`${name}: ${JSON.stringify(value)}`)
  }
  if (told.length > 0) {
    written.description = [asText(written.description), `{${told.join(', ')}}`].filter(Boolean).join('\n\n')
  }
  const { type, properties, additionalProperties: more } = written
  const isObject = type === 'object' || asList(type).includes('object') || isRecord(properties)
  // An object of any members stays what it is, for the vendor to refuse.
  if (isObject && (more === undefined || (more === true && isRecord(properties)))) written.additionalProperties = false
  return written
}

function isEnforced(name: string, value: unknown): boolean {
  if (name === 'format') return FORMATS.has(value)
  if (name === 'minItems') return value === 0 || value === 1
  return ENFORCED.has(name)
}

const each = (value: unknown): unknown => (isRecord(value) ? enforcedSchema(value) : value)

function inner(name: string, value: unknown): unknown {
  if (name === 'items') return each(value)
  if (name === 'anyOf' || name === 'allOf') return Array.isArray(value) ? value.map(each) : value
  if (name !== 'properties' && name !== '$defs' && name !== 'definitions') return value
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, each(one)]))
}
