import * as z from 'zod'
import { MODEL_MODES } from '../../../config/sections/model-list.ts'
import { lazily } from '../../../lib/lazily.ts'
import { providers } from '../../../providers/index.ts'
import type { Capability, ParameterName, Provider } from '../../../providers/provider.ts'
import { gatewayParams } from '../../../routing/configuration.ts'
import { isHeldByCredentials } from '../../../routing/credential.ts'
import { SECRET_MAPS, SECRET_PARAMETERS } from '../../../routing/secret-parameters.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const DIALECTS = ['chat', 'messages', 'responses'] as const satisfies readonly Capability[]

/** The settings that every provider has. */
const COMMON = ['api_base', 'headers', 'timeout', 'strict', 'organization'] as const satisfies readonly ParameterName[]

const field = lazily(() =>
  z.object({
    name: z.string().describe('Its name in `gateway_params`.'),
    meaning: z.string(),
    type: z.enum(['text', 'number', 'flag', 'map']),
    required: z.boolean(),
    secret: z.boolean(),
    default: z.string().nullable(),
    usual: z.boolean().describe('False for what any provider takes and few need.'),
    in_credentials: z.boolean().describe('Whether a named credential may hold it.'),
  }),
)

const entry = lazily(() =>
  z.object({
    kind: z.string(),
    label: z.string(),
    address: z.string().nullable().describe('Its usual address; null where only the operator knows it.'),
    speaks: z.array(z.enum(DIALECTS)).describe('The dialects of chat that pass to it unchanged.'),
    modes: z.array(z.enum(MODEL_MODES)),
    credentials: z
      .array(z.array(z.string()))
      .describe('The sets of fields of which one is needed; empty where calls need no credential.'),
    fields: z.array(field()),
  }),
)

export const providerList = defineRoute(
  {
    method: 'get',
    path: '/ui/api/providers',
    summary: 'The kinds of providers: what each serves, and the settings that a deployment of it takes.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    responses: {
      200: {
        description: 'The providers, by kind.',
        schema: () => z.object({ data: z.array(entry()), next_cursor: z.null() }),
      },
    },
  },
  () => json({ data: entries(), next_cursor: null }),
)

/** Built once: it is the same for the life of the process. */
const entries = lazily(() =>
  [...providers.values()].map(shown).sort((left, right) => (left.kind < right.kind ? -1 : 1)),
)

function shown(provider: Provider): z.output<ReturnType<typeof entry>> {
  const { kind, profile, adapters } = provider
  const { label, address = null, credentials, parameters = {} } = profile
  const own = [...new Set([...credentials.flat(), ...Object.keys(parameters)])] as ParameterName[]
  const common = kind === 'echo' ? [] : COMMON.filter((name) => !own.includes(name))
  return {
    kind,
    label,
    address,
    speaks: DIALECTS.filter((dialect) => adapters[dialect] !== undefined),
    modes: MODEL_MODES.filter((mode) => adapters[mode === 'completion' ? 'chat' : mode] !== undefined),
    credentials: credentials.map((set) => [...set]),
    fields: [
      ...own.map((name) => fieldOf(provider, name, true)),
      ...common.map((name) => fieldOf(provider, name, false)),
    ],
  }
}

function fieldOf(provider: Provider, name: ParameterName, usual: boolean) {
  const { profile, needsAddress } = provider
  const use = profile.parameters?.[name]
  const { description, type } = schemas()[name] ?? {}
  return {
    name,
    meaning: use?.meaning ?? description ?? '',
    type: TYPES[type ?? ''] ?? 'text',
    required: use?.required === true || (name === 'api_base' && needsAddress === true),
    secret: SECRET_PARAMETERS.includes(name) || SECRET_MAPS.includes(name),
    default: use?.default ?? null,
    usual,
    in_credentials: isHeldByCredentials(provider, name),
  }
}

const TYPES: Readonly<Record<string, 'text' | 'number' | 'flag' | 'map'>> = {
  number: 'number',
  boolean: 'flag',
  object: 'map',
}

interface ParameterSchema {
  readonly description?: string
  readonly type?: string
}

/** The descriptions in the schema of the configuration file. */
const schemas = lazily(() => {
  const { properties = {} } = z.toJSONSchema(gatewayParams(), { io: 'input' })
  return properties as Readonly<Record<string, ParameterSchema>>
})
