import { camelCase } from '../../../lib/json/camel-case.ts'
import { asList, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'

/** The members that mean the same in both. */
const SAME = ['description', 'default', 'enum', 'format', 'title', 'pattern', 'minimum', 'maximum', 'required'] as const
/** Counts, which the API writes as texts. */
const COUNTS = ['maxItems', 'minItems', 'maxLength', 'minLength', 'maxProperties', 'minProperties'] as const
/** A format of the API that JSON Schema does not have: `enum` says it already. */
const NO_FORMAT = 'enum'

/** A schema of the API, a part of OpenAPI's, as JSON Schema. `closed`: its objects have no other members. */
export function jsonSchema(given: unknown, closed = false): JsonRecord {
  const schema = camelCase(given)
  const written: Record<string, unknown> = {}
  const { type, nullable, properties, items, anyOf, example, format } = schema
  const word = typeof type === 'string' && type !== 'TYPE_UNSPECIFIED' ? type.toLowerCase() : undefined
  if (word !== undefined) written.type = nullable === true ? [word, 'null'] : word
  // Some clients write the types of JSON Schema.
  if (Array.isArray(type)) written.type = type.map((one) => (typeof one === 'string' ? one.toLowerCase() : one))
  for (const name of SAME) if (schema[name] !== undefined && schema[name] !== null) written[name] = schema[name]
  if (format === NO_FORMAT) delete written.format
  for (const name of COUNTS) {
    const count = schema[name]
    // An integer that a double would round is an object, of which nothing makes a number.
    if ((typeof count === 'string' || typeof count === 'number') && Number.isFinite(Number(count)))
      written[name] = Number(count)
  }
  if (example !== undefined) written.examples = [example]
  if (isRecord(items)) written.items = jsonSchema(items, closed)
  const branches = asList(anyOf).map((one) => jsonSchema(one, closed))
  if (branches.length > 0) {
    written.anyOf = nullable === true && word === undefined ? [...branches, { type: 'null' }] : branches
  }
  if (nullable === true && Array.isArray(written.enum)) written.enum = [...written.enum, null]
  if (isRecord(properties)) {
    const members = Object.entries(properties).map(([name, one]) => [name, jsonSchema(one, closed)])
    written.properties = Object.fromEntries(members)
    if (closed) written.additionalProperties = false
  }
  return written
}
