import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { enforcedSchema } from './enforced-schema.ts'
import { isRecursive } from './recursive-schema.ts'

/** Whether a model of Anthropic's or Bedrock's can be held to the schema of a function, as `strict` asks. */
export function isHeld({ parameters, strict }: JsonRecord, drop: Drop): boolean {
  if (strict !== true || !isRecursive(parameters)) return strict === true
  drop('tools.strict')
  return false
}

/** The schema of a function's arguments for Anthropic and Bedrock. `strict`: the model is held to it. */
export function functionSchema(parameters: unknown, strict: boolean): JsonRecord {
  if (!isRecord(parameters)) return { type: 'object', properties: {}, ...(strict ? CLOSED : {}) }
  const schema = objectSchema(parameters)
  return strict ? enforcedSchema(schema) : schema
}

const CLOSED = { additionalProperties: false }

/** They take an object and nothing else at the root: the members of alternatives become members of the object, and its
 *  description has the alternatives. */
function objectSchema(parameters: JsonRecord): JsonRecord {
  const { anyOf, oneOf, allOf, ...rest } = parameters
  const combined = Object.entries({ anyOf, oneOf, allOf }).filter(([, value]) => Array.isArray(value))
  if (combined.length === 0) return parameters.type === 'object' ? parameters : { ...parameters, type: 'object' }
  const branches = combined.flatMap(([, value]) => asList(value)).map((branch) => resolved(branch, parameters))
  const properties = Object.assign({}, ...branches.map((branch) => asRecord(branch.properties)), rest.properties)
  const required = new Set([
    ...asList(rest.required),
    ...asList(allOf).flatMap((branch) => asList(resolved(branch, parameters).required)),
  ])
  const told = JSON.stringify(Object.fromEntries(combined))
  return {
    ...rest,
    type: 'object',
    properties,
    ...(required.size > 0 ? { required: [...required] } : {}),
    description: [asText(rest.description), told].filter(Boolean).join('\n\n'),
  }
}

/** A branch, or the definition of the same schema that it refers to. */
function resolved(branch: unknown, root: JsonRecord): JsonRecord {
  const path = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(asText(asRecord(branch).$ref))
  return path ? asRecord(asRecord(root[path[1] as string])[path[2] as string]) : asRecord(branch)
}
