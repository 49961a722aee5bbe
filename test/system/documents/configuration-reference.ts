import * as z from 'zod'
import { configSchema } from '../../../src/routing/configuration.ts'

/** As much of a JSON Schema as the configuration uses. */
interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

interface Row {
  readonly key: string
  readonly schema: Schema
  readonly required: boolean
}

/** Every key of the configuration file with its type, default and sentence: a table for each section. */
export function configurationReference(): string {
  const root = z.toJSONSchema(configSchema(), { io: 'input' }) as Schema
  return Object.entries(root.properties ?? {})
    .map(([name, section]) => {
      const holder = section.items ?? section
      const title = section.items ? `#### \`${name}\`, each entry` : `#### \`${name}\``
      return [title, '', ...table(rowsOf(holder, ''))].join('\n')
    })
    .join('\n\n')
}

function rowsOf(schema: Schema, prefix: string): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]): Row[] => {
    const key = `${prefix}${name}`
    if (member.properties) return rowsOf(member, `${key}.`)
    const row = {
      key,
      schema: member,
      required: schema.required?.includes(name) === true && member.default === undefined,
    }
    return member.items?.properties ? [row, ...rowsOf(member.items, `${key}[].`)] : [row]
  })
}

function table(rows: readonly Row[]): string[] {
  const lines = rows.map(({ key, schema, required }) => {
    const preset = required
      ? '**required**'
      : schema.default === undefined
        ? ''
        : `\`${JSON.stringify(schema.default)}\``
    return `| \`${key}\` | ${typeOf(schema)} | ${preset} | ${cell(schema.description ?? '')} |`
  })
  return ['| Key | Type | Default | |', '|---|---|---|---|', ...lines]
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ')
  if (schema.const !== undefined) return `\`${String(schema.const)}\``
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.items) return schema.items.properties ? 'list of maps' : `list of ${typeOf(schema.items)}`
  if (schema.type === 'object') {
    const values = schema.additionalProperties
    return typeof values === 'object' && values.type !== undefined ? `map to ${typeOf(values)}` : 'map'
  }
  return schema.type ?? 'anything'
}

/** In code Markdown reads no entities. */
const cell = (text: string) =>
  text.replaceAll('|', '\\|').replace(/`[^`]*`|</g, (part) => (part === '<' ? '&lt;' : part))
