import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import { isMap } from '../../../../config/fields.ts'
import { MCP_SERVER_DEFAULTS } from '../../../../config/sections/mcp-servers.ts'
import { isPrivateHost } from '../../../../lib/addresses/private-address.ts'
import { GatewayError } from '../../../../lib/errors.ts'
import { providers } from '../../../../providers/index.ts'
import { credentialEntry, modelEntry } from '../../../../routing/configuration.ts'
import { checkCredential, withCredential } from '../../../../routing/credential.ts'
import { deploymentOf } from '../../../../routing/registry.ts'
import { addressOf } from '../../../../routing/secret-parameters.ts'
import { type AdminApi, all, ask, Refused } from '../admin-api.ts'
import { bodyOf } from './contracts.ts'
import type { Kind, Mistake, World } from './kind.ts'

const at = (path: string, id: unknown) => `${path}/${encodeURIComponent(String(id))}`

/** A kind of record of the routing, at a path of the admin API. A change of one names the version that it changes. */
function routingKind(
  path: string,
  kind: Pick<Kind, 'section' | 'noun' | 'id' | 'fields' | 'secrets' | 'check' | 'storesParsed'> & {
    readonly isExported?: (record: Fields) => boolean
    /** The body of a change, where it is not the record. */
    readonly changes?: (record: Fields, before: Fields) => Fields
  },
): Kind {
  const { isExported = () => true, changes, ...rest } = kind
  const [id = ''] = kind.id
  const one = (record: Fields) => at(path, record[id])
  return {
    ...rest,
    parts: (value) => [{ schema: bodyOf('post', path), value, at: '' }],
    read: async (api) => (await all(api, path)).filter(isExported),
    async create(api, record) {
      await ask(api, 'POST', path, record)
    },
    async change(api, record, before) {
      const { version } = await ask(api, 'GET', one(record))
      if (changes) await ask(api, 'PATCH', one(record), { ...changes(record, before), version })
      else await ask(api, 'PUT', one(record), { ...record, version })
    },
    async remove(api, record) {
      await ask(api, 'DELETE', one(record))
    },
  }
}

const isOfDatabase = ({ source }: Fields) => source === 'database'

/** The change of a map: null for a removed member. */
function patchBetween(before: Fields, after: Fields): Fields {
  const gone = Object.keys(before).filter((name) => after[name] === undefined)
  return { ...after, ...Object.fromEntries(gone.map((name) => [name, null])) }
}

/** The error of the gateway's own check as the mistake of a field. */
function mistakeIn(check: () => unknown): Mistake | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof GatewayError) {
      const path = error.details.param ?? ''
      return { path, message: error.message.replace(`${path}: `, '') }
    }
    if (error instanceof TypeError) return { path: 'gateway_params', message: error.message }
    throw error
  }
}

export const credentials = routingKind('/ui/api/credentials', {
  section: 'credentials',
  noun: 'credential',
  id: ['name'],
  secrets: {
    fields: ['gateway_params'],
    addressOf: ({ provider, gateway_params }) => addressOf({ ...Object(gateway_params), provider }),
  },
  fields: { provider: null, gateway_params: null },
  check: (record) => mistakeIn(() => checkCredential(credentialEntry().parse(record))),
  changes({ provider, gateway_params }, before) {
    const params = patchBetween(Object(before.gateway_params), Object(gateway_params))
    const headers = patchBetween(Object(Object(before.gateway_params).headers), Object(Object(gateway_params).headers))
    return { provider, gateway_params: isMap(params.headers) ? { ...params, headers } : params }
  },
})

export const models = routingKind('/ui/api/models', {
  section: 'models',
  noun: 'model',
  id: ['deployment_id'],
  secrets: { fields: ['gateway_params'], addressOf: ({ gateway_params }) => addressOf(Object(gateway_params)) },
  fields: { model_name: null, gateway_params: null, model_info: {} },
  isExported: isOfDatabase,
  check: (record, world) =>
    mistakeIn(() => {
      const entry = { ...modelEntry().parse(record), deployment_id: String(record.deployment_id) }
      const { credential } = entry.gateway_params
      const named = credential === undefined ? undefined : credentialNamed(world, credential)
      deploymentOf(credential === undefined ? entry : withCredential(entry, named), providers)
    }),
})

function credentialNamed({ wanted, now }: World, name: string) {
  const record = wanted.get('credentials')?.get(name) ?? now.get('credentials')?.get(name)
  return record && credentialEntry().safeParse(record).data
}

export const mcpServers = routingKind('/ui/api/mcp-servers', {
  section: 'mcp_servers',
  noun: 'MCP server',
  id: ['server_key'],
  secrets: {
    fields: ['base_url', 'auth_token', 'auth_headers'],
    addressOf: ({ base_url }) => URL.parse(String(base_url))?.origin ?? '',
  },
  fields: { base_url: null, ...MCP_SERVER_DEFAULTS },
  isExported: isOfDatabase,
  check({ base_url: url, allow_private: mayBePrivate }) {
    if (mayBePrivate === true || !isPrivateHost(URL.parse(String(url))?.hostname ?? '')) return undefined
    return { path: 'base_url', message: 'is in a private network; set allow_private if the gateway may go there' }
  },
})

export const routeGroups = routingKind('/ui/api/route-groups', {
  section: 'route_groups',
  noun: 'route group',
  id: ['name'],
  fields: { enabled: true, members: null },
  storesParsed: true,
})

/** The published policies. Their former versions and drafts are no configuration. */
export const policies: Kind = {
  section: 'policies',
  noun: 'policy',
  id: ['group'],
  fields: { policy: {} },
  parts: ({ policy }) => [
    { schema: bodyOf('put', '/ui/api/route-groups/{name}/policy/draft'), value: policy, at: 'policy' },
  ],
  async read(api) {
    const found = await all(api, '/ui/api/route-group-policies')
    const records: Fields[] = []
    for (const { name, version } of found) {
      if (version === null) continue
      // A policy may outlive its group: then it says nothing.
      const { published } = await ask(api, 'GET', `${at('/ui/api/route-groups', name)}/policy`).catch(ofNoGroup)
      const { policy } = Object(published) as Fields
      if (isMap(policy) && Object.keys(policy).length > 0) records.push({ group: name, policy })
    }
    return records
  },
  check({ group, policy }, { wanted, now, ofFile }) {
    const named = (section: string, field: string) =>
      [wanted, now].flatMap((named) => [...(named.get(section)?.values() ?? [])].map((record) => record[field]))
    const groups = new Set([...named('route_groups', 'name'), ...named('models', 'model_name'), ...ofFile.models])
    if (!groups.has(group)) return { path: 'group', message: `there is no route group and no model '${group}'` }
    const { prompt_ref: ref } = Object(policy) as Fields
    const key = typeof ref === 'string' ? ref.split(/[@:]/)[0] : undefined
    if (key === undefined || named('prompts', 'key').includes(key)) return undefined
    return { path: 'policy.prompt_ref', message: `there is no prompt '${key}'` }
  },
  create: publish,
  change: publish,
  remove: (api, { group }) => publish(api, { group, policy: {} }),
}

function ofNoGroup(error: unknown): Fields {
  if (error instanceof Refused && error.status === 404) return {}
  throw error
}

async function publish(api: AdminApi, { group, policy }: Fields): Promise<void> {
  const path = `${at('/ui/api/route-groups', group)}/policy`
  const { draft } = await ask(api, 'PUT', `${path}/draft`, policy)
  const { draft_version } = Object(draft) as Fields
  await ask(api, 'POST', `${path}/publish?draft_version=${draft_version}`)
}
