import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import { type AdminApi, all, ask } from '../admin-api.ts'
import { bodyOf } from './contracts.ts'
import { isSame } from './document.ts'
import type { Kind } from './kind.ts'

const BINDINGS = '/ui/api/callable-target-bindings'
const POLICIES = '/ui/api/callable-target-policies'

/** The section in which each kind of scope is. */
const SECTIONS = { organization: 'organizations', team: 'teams', user: 'users', api_key: 'keys' } as const

const DEFAULTS = { callable_kind: 'target', enabled: true }

const bindingsOf = ({ bindings }: Fields) => (Array.isArray(bindings) ? (bindings as Fields[]) : [])
const keyOf = ({ callable_kind, callable_key }: Fields) => `${callable_kind ?? DEFAULTS.callable_kind}/${callable_key}`

/** What organizations, teams, users and keys may call: one record for each of them that is restricted. */
export const access: Kind = {
  section: 'access',
  noun: 'access',
  id: ['scope_type', 'scope_id'],
  fields: { mode: null, bindings: [] },
  parts: ({ bindings, ...policy }) => [
    { schema: bodyOf('put', POLICIES), value: { mode: null, ...policy }, at: '' },
    ...bindingsOf({ bindings }).map((binding, index) => ({
      schema: bodyOf('post', BINDINGS),
      value: { scope_type: policy.scope_type, scope_id: policy.scope_id, ...binding },
      at: `bindings[${index}]`,
    })),
  ],
  async read(api) {
    const records = new Map<string, { scope_type: unknown; scope_id: unknown; mode: unknown; bindings: Fields[] }>()
    const recordOf = ({ scope_type, scope_id }: Fields) => {
      const name = `${scope_type}/${scope_id}`
      const record = records.get(name) ?? { scope_type, scope_id, mode: null, bindings: [] }
      records.set(name, record)
      return record
    }
    for (const policy of await all(api, POLICIES)) recordOf(policy).mode = policy.mode
    for (const binding of await all(api, BINDINGS)) {
      const { callable_kind, callable_key, enabled } = binding
      recordOf(binding).bindings.push({ callable_kind, callable_key, enabled })
    }
    return [...records.values()].map(normal)
  },
  normal,
  check(record, { wanted, now, ofFile }) {
    const section = SECTIONS[record.scope_type as keyof typeof SECTIONS]
    const has = (of: string, name: unknown) => wanted.get(of)?.has(String(name)) || now.get(of)?.has(String(name))
    if (!has(section, record.scope_id)) {
      return { path: 'scope_id', message: `there is no '${record.scope_id}' among the ${section}, here or in the file` }
    }
    for (const [index, binding] of bindingsOf(record).entries()) {
      const { callable_kind: kind, callable_key: key } = binding
      if (kind === 'mcp_server' && !has('mcp_servers', key) && !ofFile.servers.has(String(key))) {
        return { path: `bindings[${index}].callable_key`, message: `there is no MCP server '${key}'` }
      }
    }
    return undefined
  },
  create: (api, record) => bring(api, record),
  change: (api, record) => bring(api, record),
  remove: (api, { scope_type, scope_id }) => bring(api, { scope_type, scope_id, mode: null, bindings: [] }),
}

function normal(record: Fields): Fields {
  const bindings = bindingsOf(record).map((binding) => ({ ...DEFAULTS, ...binding }))
  return { ...record, bindings: bindings.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)) }
}

/** Writes the wanted permissions of a scope. Restrictions are written before permissions are removed: meanwhile the
 *  scope may call less, and never everything. */
async function bring(api: AdminApi, { scope_type, scope_id, mode, bindings }: Fields): Promise<void> {
  const query = `?scope_type=${scope_type}&scope_id=${encodeURIComponent(String(scope_id))}`
  const before = await all(api, BINDINGS + query)
  const wanted = bindingsOf({ bindings })
  const policy = (wish: unknown) => ask(api, 'PUT', POLICIES, { scope_type, scope_id, mode: wish })
  const isOpen = wanted.length === 0 && mode !== 'restrict'
  if (!isOpen) await policy(mode === 'inherit' ? mode : 'restrict')
  for (const binding of wanted) {
    const same = before.find((one) => keyOf(one) === keyOf(binding))
    if (!same) await ask(api, 'POST', BINDINGS, { scope_type, scope_id, ...binding })
    else if (!isSame(same.enabled, binding.enabled)) {
      await ask(api, 'PATCH', `${BINDINGS}/${same.binding_id}`, { enabled: binding.enabled })
    }
  }
  for (const { binding_id, ...one } of before) {
    if (!wanted.some((binding) => keyOf(binding) === keyOf(one))) await ask(api, 'DELETE', `${BINDINGS}/${binding_id}`)
  }
  await policy(mode ?? null)
}
