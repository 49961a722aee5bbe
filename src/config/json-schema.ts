import * as z from 'zod'
import type { ConfigSchema } from './schema.ts'

type Schema = Record<string, unknown>

const REFERENCE: Schema = {
  type: 'string',
  pattern: '^os\\.environ/[A-Za-z_][A-Za-z0-9_]*$',
  description: 'Read from that environment variable.',
}

/** The JSON Schema of the configuration file, for editors. It includes environment references, as `readConfig` does. */
export function jsonSchemaOf(config: ConfigSchema): Schema {
  const schema = z.toJSONSchema(config, { io: 'input', target: 'draft-2020-12' })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'gateway.schema.json',
    title: 'Gateway configuration',
    ...writable(schema as Schema),
  }
}

/** A schema that also accepts references for every value, and empty values for optional keys. */
function writable({ $schema: _, ...schema }: Schema): Schema {
  const { description, default: preset, ...rules } = schema
  const labels = { ...(description ? { description } : {}), ...(preset === undefined ? {} : { default: preset }) }
  if (Array.isArray(rules.anyOf)) return { ...labels, ...rules, anyOf: rules.anyOf.map(writable) }
  if (rules.type === 'object') return { ...labels, ...writableMap(rules) }
  if (rules.type === 'array') return { ...labels, ...rules, items: writable(rules.items as Schema) }
  // Unrestricted text and a schema without a type accept a reference already.
  const restricted = Object.keys(rules).some((rule) => rule !== 'type' && rule !== 'minLength')
  if (rules.type === undefined || (rules.type === 'string' && !restricted)) return { ...labels, ...rules }
  return { ...labels, anyOf: [withoutSafeBounds(rules), REFERENCE] }
}

function writableMap(rules: Schema): Schema {
  const required = (rules.required ?? []) as string[]
  const result = { ...rules }
  if (rules.properties) {
    const members = Object.entries(rules.properties as Record<string, Schema>)
    result.properties = Object.fromEntries(
      members.map(([key, member]) => [key, required.includes(key) ? writable(member) : orEmpty(writable(member))]),
    )
  }
  if (typeof rules.additionalProperties === 'object') {
    result.additionalProperties = writable(rules.additionalProperties as Schema)
  }
  return result
}

function orEmpty({ description, default: preset, ...rules }: Schema): Schema {
  const labels = { ...(description ? { description } : {}), ...(preset === undefined ? {} : { default: preset }) }
  if (Object.keys(rules).length === 0) return labels
  const options = Array.isArray(rules.anyOf) && Object.keys(rules).length === 1 ? rules.anyOf : [rules]
  return { ...labels, anyOf: [...options, { type: 'null' }] }
}

/** Removes the bounds of JavaScript's integers, which are no rule of the field. */
function withoutSafeBounds(rules: Schema): Schema {
  return Object.fromEntries(
    Object.entries(rules).filter(([, value]) => Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER),
  )
}
