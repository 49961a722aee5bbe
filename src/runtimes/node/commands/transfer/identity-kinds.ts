import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import { type AdminApi, all, ask } from '../admin-api.ts'
import { bodyOf } from './contracts.ts'
import type { Kind, Mistake, World } from './kind.ts'

const LIMITS = {
  max_budget: null,
  soft_budget: null,
  budget_duration: null,
  rpm_limit: null,
  tpm_limit: null,
  rph_limit: null,
  rpd_limit: null,
  tpd_limit: null,
}

/** A kind of record that callers are built from. */
function scopeKind(
  path: string,
  kind: Pick<Kind, 'section' | 'noun' | 'id' | 'fields' | 'settled' | 'normal'> & {
    readonly references?: Readonly<Record<string, string>>
    readonly isExported?: (record: Fields, people: ReadonlySet<string>) => boolean
  },
): Kind {
  const { references = {}, isExported = () => true, ...rest } = kind
  const [id = ''] = kind.id
  const one = (record: Fields) => `${path}/${encodeURIComponent(String(record[id]))}`
  return {
    ...rest,
    parts: (value) => [{ schema: bodyOf('post', path), value, at: '' }],
    storesParsed: true,
    read: async (api, people) => (await all(api, path)).filter((record) => isExported(record, people)),
    check: (record, world, before) => settled(rest, record, before) ?? absent(references, record, world),
    async create(api, record) {
      await ask(api, 'POST', path, record)
    },
    async change(api, record) {
      await ask(api, 'PUT', one(record), record)
    },
    async remove(api, record) {
      await ask(api, 'DELETE', one(record))
    },
  }
}

function settled(
  kind: Pick<Kind, 'noun' | 'settled'>,
  record: Fields,
  before: Fields | undefined,
): Mistake | undefined {
  const moved = before && kind.settled?.find((field) => (record[field] ?? null) !== (before[field] ?? null))
  if (moved === undefined) return undefined
  return { path: moved, message: `is settled when a ${kind.noun} is made; it is '${before?.[moved] ?? ''}'` }
}

/** A reference to a record that is neither there nor in the file. */
function absent(references: Readonly<Record<string, string>>, record: Fields, world: World): Mistake | undefined {
  for (const [field, section] of Object.entries(references)) {
    const named = record[field]
    if (typeof named !== 'string') continue
    if (world.wanted.get(section)?.has(named) || world.now.get(section)?.has(named)) continue
    return { path: field, message: `there is no '${named}' among the ${section}, here or in the file` }
  }
  return undefined
}

export const organizations = scopeKind('/ui/api/organizations', {
  section: 'organizations',
  noun: 'organization',
  id: ['organization_id'],
  fields: { organization_name: null, ...LIMITS, metadata: {} },
})

/** Users that are programs. Persons come with their accounts, which no file holds. */
export const users = scopeKind('/ui/api/users', {
  section: 'users',
  noun: 'user',
  id: ['user_id'],
  fields: { user_name: null, user_email: null, user_role: null, ...LIMITS, metadata: {} },
  isExported: ({ user_id }, people) => !people.has(String(user_id)),
})

export const teams = scopeKind('/ui/api/teams', {
  section: 'teams',
  noun: 'team',
  id: ['team_id'],
  fields: {
    organization_id: null,
    team_name: null,
    ...LIMITS,
    model_max_budget: {},
    self_service_keys_enabled: false,
    self_service_max_keys_per_user: null,
    self_service_budget_ceiling: null,
    self_service_require_expiry: false,
    self_service_max_expiry_days: null,
    turn_off_message_logging: false,
    metadata: {},
  },
  settled: ['organization_id'],
  references: { organization_id: 'organizations' },
})

/** Keys without their secrets; neither those of persons nor revoked ones. */
export const keys = scopeKind('/ui/api/keys', {
  section: 'keys',
  noun: 'key',
  id: ['key_id'],
  fields: {
    key_name: null,
    organization_id: null,
    team_id: null,
    user_id: null,
    ...LIMITS,
    max_parallel_requests: null,
    model_max_budget: {},
    allowed_ips: null,
    turn_off_message_logging: false,
    no_log_allowed: true,
    expires_at: null,
    metadata: {},
  },
  settled: ['team_id', 'organization_id'],
  // A key of a team is in the team's organization, whether that is said or not.
  normal: (record, before) =>
    record.team_id == null || record.organization_id != null
      ? record
      : { ...record, organization_id: before?.organization_id },
  references: { organization_id: 'organizations', team_id: 'teams', user_id: 'users' },
  isExported: ({ owner_account_id, user_id, revoked_at }, people) =>
    owner_account_id === null && revoked_at === null && !people.has(String(user_id)),
})

const MEMBERS = { organization: 'organizations', team: 'teams' } as const

/** Memberships of programs. */
export const members: Kind = {
  section: 'members',
  noun: 'member',
  id: ['scope', 'scope_id', 'user_id'],
  fields: { role: null },
  parts({ scope, user_id, role }) {
    const path =
      scope === 'team' ? '/ui/api/teams/{team_id}/members' : '/ui/api/organizations/{organization_id}/members'
    return [{ schema: bodyOf('post', path), value: { user_id, role }, at: '' }]
  },
  async read(api, people) {
    const found: Fields[] = []
    for (const [scope, collection] of Object.entries(MEMBERS)) {
      for (const record of await all(api, `/ui/api/${collection}`)) {
        if (record.member_count === 0) continue
        const scope_id = record[`${scope}_id`]
        const members = await all(api, `${pathOf({ scope, scope_id })}`)
        for (const { user_id, role } of members) {
          if (!people.has(String(user_id))) found.push({ scope, scope_id, user_id, role })
        }
      }
    }
    return found
  },
  check({ scope, scope_id, user_id }, world) {
    if (scope !== 'organization' && scope !== 'team') return { path: 'scope', message: 'must be organization or team' }
    return absent({ scope_id: MEMBERS[scope], user_id: 'users' }, { scope_id, user_id }, world)
  },
  create: putMember,
  change: putMember,
  async remove(api, record) {
    await ask(api, 'DELETE', `${pathOf(record)}/${encodeURIComponent(String(record.user_id))}`)
  },
}

function pathOf({ scope, scope_id }: Fields): string {
  return `/ui/api/${scope}s/${encodeURIComponent(String(scope_id))}/members`
}

async function putMember(api: AdminApi, record: Fields): Promise<void> {
  await ask(api, 'POST', pathOf(record), { user_id: record.user_id, role: record.role })
}
