import * as z from 'zod'
import type { RouteContract } from '../../../src/api/route.ts'
import { routes } from '../../../src/app.ts'

/** Where the console reads what the gateway takes and answers. */
export const CONSOLE_TYPES = 'src/console/api-types.ts'

const HEAD = `// Written from the contracts of the routes by \`npm run readme\`. Every route of the administration is a line: what it takes
// in its path (params), its query and its body, and what it answers.

export interface Api {
`

/** What the console speaks to: the administration, accounts, health, and the models that one may call. */
const SPOKEN = /^\/(?:ui\/api|auth|health|v1\/models)(?:\/|$)/

/** The types of all routes that the console may call, as a module of TypeScript. */
export function consoleTypes(): string {
  const lines = routes
    .filter(({ contract }) => SPOKEN.test(contract.path))
    .map(({ contract }) => `  '${contract.method.toUpperCase()} ${contract.path}': ${entry(contract)}\n`)
  return `${HEAD}${lines.join('')}}\n`
}

function entry({ params, query, json, responses }: RouteContract): string {
  const answer = Object.entries(responses).find(([status]) => Number(status) < 300)?.[1]
  const parts = [
    `params: ${params ? typeOf(params(), 'input') : 'undefined'}`,
    `query: ${query ? typeOf(query(), 'input') : 'undefined'}`,
    `body: ${json ? typeOf(json(), 'input') : 'undefined'}`,
    `answer: ${answer?.schema ? typeOf(answer.schema(), 'output') : 'undefined'}`,
  ]
  return `{ ${parts.join('; ')} }`
}

interface Json {
  readonly [name: string]: unknown
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Json>>
  readonly required?: readonly string[]
  readonly items?: Json | boolean
  readonly additionalProperties?: Json | boolean
  readonly anyOf?: readonly Json[]
  readonly oneOf?: readonly Json[]
  readonly allOf?: readonly Json[]
  readonly prefixItems?: readonly Json[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly $ref?: string
}

function typeOf(schema: z.ZodType, io: 'input' | 'output'): string {
  const written = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline', cycles: 'ref' }) as Json
  return typeText(written, io)
}

function typeText(schema: Json | boolean, io: 'input' | 'output'): string {
  if (typeof schema === 'boolean' || schema.$ref !== undefined) return 'unknown'
  const { type, properties, items, additionalProperties, anyOf, oneOf, allOf, prefixItems } = schema
  const several = (parts: readonly Json[], by: string) =>
    `(${[...new Set(parts.map((part) => typeText(part, io)))].join(by)})`
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  if (anyOf ?? oneOf) return several(anyOf ?? oneOf ?? [], ' | ')
  if (allOf) return several(allOf, ' & ')
  if (Array.isArray(type))
    return several(
      type.map((one: string) => ({ ...schema, type: one }) as Json),
      ' | ',
    )
  if (type === 'array') {
    if (prefixItems) return `[${prefixItems.map((part) => typeText(part, io)).join(', ')}]`
    return `Array<${items === undefined ? 'unknown' : typeText(items, io)}>`
  }
  if (type === 'object') return objectText(properties ?? {}, schema.required ?? [], additionalProperties, io)
  return (
    { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }[String(type)] ??
    'unknown'
  )
}

function objectText(
  properties: Readonly<Record<string, Json>>,
  required: readonly string[],
  others: Json | boolean | undefined,
  io: 'input' | 'output',
): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
    // Of a request, a field may also be there and undefined: then it is not sent.
    const open = required.includes(name) ? ':' : '?:'
    const missing = io === 'input' && open === '?:' ? ' | undefined' : ''
    return `${key}${open} ${typeText(field, io)}${missing}`
  })
  const rest = others === undefined || others === false ? undefined : `Record<string, ${typeText(others, io)}>`
  if (fields.length === 0) return rest ?? 'Record<string, never>'
  const own = `{ ${fields.join('; ')} }`
  // An answer may always have more than is known of it; a body only what the contract names.
  return rest !== undefined && rest !== 'Record<string, unknown>' ? `(${own} & ${rest})` : own
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value))
