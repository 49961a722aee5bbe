import * as z from 'zod'
import { isMap } from '../../../config/fields.ts'
import { originsOf } from '../../../config/origins.ts'
import type { Config } from '../../../config/schema.ts'
import { lazily } from '../../../lib/lazily.ts'
import { isSecret, MASK } from '../../../lib/secret.ts'
import { configSchema } from '../../../routing/configuration.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const answer = lazily(() =>
  z.object({
    key: z.string().describe('Its path in the file, such as general_settings.log_level.'),
    value: z.unknown().describe('Of a secret null; of a list of maps the number of its entries.'),
    set: z.boolean().describe('Whether it has a value.'),
    secret: z.boolean(),
    source: z
      .enum(['file', 'environment', 'generated', 'default'])
      .describe('generated: made by the gateway at its first start, and kept in its data folder.'),
    variable: z.string().nullable().describe('The environment variable that gave it.'),
    type: z.string(),
    choices: z.array(z.string()).nullable(),
    default: z.unknown(),
    meaning: z.string(),
    restart: z.literal(true).describe('A change is in force after a restart: the file is read when a process starts.'),
  }),
)

export const configList = defineRoute(
  {
    method: 'get',
    path: '/ui/api/config',
    summary: 'Every key of the configuration file, with the value in force, where it comes from and what it means.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    responses: { 200: { description: 'All keys.', schema: () => z.object({ data: z.array(answer()) }) } },
  },
  ({ services: { config } }) => json({ data: keysOf().map((key) => shown(config, key)) }),
)

/** The part of JSON Schema that the configuration uses. */
interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Key {
  readonly path: readonly string[]
  readonly schema: Schema
}

const keysOf = lazily((): readonly Key[] => [...leaves(z.toJSONSchema(configSchema(), { io: 'input' }) as Schema, [])])

function* leaves(schema: Schema, path: readonly string[]): Generator<Key> {
  if (!schema.properties) return yield { path, schema }
  for (const [name, member] of Object.entries(schema.properties)) yield* leaves(member, [...path, name])
}

function shown(config: Config, { path, schema }: Key): z.output<ReturnType<typeof answer>> {
  const key = path.join('.')
  const origins = originsOf(config)
  const variable = origins?.variableOf(key) ?? null
  const value = path.reduce<unknown>((node, name) => (isMap(node) ? node[name] : undefined), config)
  const written = origins?.isWritten(key) ?? true
  const given = written ? 'file' : 'default'
  return {
    key,
    ...shownValue(value),
    source: variable === null ? given : origins?.isMade(variable) ? 'generated' : 'environment',
    variable,
    type: typeOf(schema),
    choices: schema.enum ? [...schema.enum] : null,
    default: schema.default ?? null,
    meaning: schema.description ?? '',
    restart: true,
  }
}

function shownValue(value: unknown): { value: unknown; set: boolean; secret: boolean } {
  if (value === undefined || value === null) return { value: null, set: false, secret: false }
  if (isSecret(value)) return shownSecret(value.toString())
  const isList = Array.isArray(value) && value.some(isMap)
  return { value: isList ? value.length : value, set: true, secret: false }
}

/** Of an address that may hold a key, all else is shown. */
function shownSecret(text: string): { value: unknown; set: true; secret: boolean } {
  return text === MASK ? { value: null, set: true, secret: true } : { value: text, set: true, secret: false }
}

function typeOf({ type, enum: choices, anyOf, items, properties }: Schema): string {
  if (choices) return 'choice'
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (items) return items.properties ? 'list of maps' : `list of ${typeOf(items)}`
  if (properties) return 'map'
  return type === 'object' ? 'map' : (type ?? 'anything')
}
