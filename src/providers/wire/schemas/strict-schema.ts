import { asList, isRecord } from '../../../lib/json/lenient.ts'

/** The members of a schema that vendors of OpenAI's shape can hold a model to. */
const ENFORCED: ReadonlySet<string> = new Set([
  ...['type', 'title', 'description', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'items'],
  ...['anyOf', '$ref', '$defs', 'definitions', '$schema', 'pattern', 'format', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
])
const FORMATS: ReadonlySet<unknown> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
])

/** Whether a vendor of OpenAI's shape promises answers that fit a schema: it refuses to for one that leaves something open,
 *  or that has members which it does not enforce. */
export function isStrict(schema: unknown): boolean {
  if (!isRecord(schema) || Object.keys(schema).some((name) => !ENFORCED.has(name))) return false
  const { type, properties, required, additionalProperties, items, anyOf, $ref, $defs, definitions, format } = schema
  if (format !== undefined && !FORMATS.has(format)) return false
  const inner = [
    ...asList(anyOf),
    ...[$defs, definitions].flatMap((named) => (isRecord(named) ? Object.values(named) : [])),
    ...(items === undefined ? [] : [items]),
  ]
  if (!inner.every(isStrict)) return false
  const isObject = type === 'object' || asList(type).includes('object')
  if (!isRecord(properties)) {
    return !isObject && (type !== undefined || $ref !== undefined || anyOf !== undefined)
  }
  const names = Object.keys(properties)
  const demanded = new Set(asList(required))
  return additionalProperties === false && names.every((name) => demanded.has(name) && isStrict(properties[name]))
}
