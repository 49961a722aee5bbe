import type { SignedIn } from '../../support/people.ts'
import { type CallerName, type Ids, PLACES, type Place, type World } from './world.ts'

/** One request of a route: what its path names, and what goes with it. */
export interface Asking {
  readonly ids?: Ids
  readonly query?: string
  readonly body?: unknown
  /** Somebody else in the caller's role, where the request ends what the caller is. */
  readonly as?: SignedIn
}

/** Who asks, and whether it is to succeed: then what is taken away is made for this request. */
export interface Occasion {
  readonly world: World
  readonly caller: CallerName
  readonly succeeds: boolean
}
export type Case = (occasion: Occasion) => Asking | Promise<Asking>
export type Cases = Readonly<Record<string, Case>>

type WithIds = (ids: Ids, occasion: Occasion, place: Place | 'self') => Asking | Promise<Asking>

const at = (places: readonly Place[], asking: WithIds = (ids) => ({ ids })): Cases =>
  Object.fromEntries(
    places.map((place): [string, Case] => [place, (occasion) => asking(occasion.world.ids[place], occasion, place)]),
  )
const self = (asking: WithIds = (ids) => ({ ids })): Cases => ({
  self: (occasion) => asking(occasion.world.self(occasion.caller), occasion, 'self'),
})
const body =
  (value: unknown): WithIds =>
  (ids) => ({ ids, body: value })

const ORGANIZATIONS = ['own', 'foreign', 'absent'] as const
const organizations = (asking?: WithIds) => at(ORGANIZATIONS, asking)
const everywhere = (asking?: WithIds) => at(PLACES, asking)
const keys = (asking?: WithIds) => ({ ...everywhere(asking), ...self(asking) })
/** A call as a key that the query names. */
const asKey = (sent: unknown) => keys(({ key_id }) => ({ query: `?key_id=${key_id}`, body: sent }))

/** A list as it is, and asked for what is foreign. */
const list = (filter?: 'team_id' | 'organization_id'): Cases => ({
  all: () => ({ query: '?limit=200' }),
  ...(filter && { foreign: ({ world }) => ({ query: `?${filter}=${world.ids.foreign[filter]}` }) }),
})
/** What no organization or team has of its own. */
const one = (ids: Ids, asking: Omit<Asking, 'ids'> = {}): Cases => ({
  any: () => ({ ids, ...asking }),
  absent: () => ({ ids: Object.fromEntries(Object.keys(ids).map((name) => [name, 'no-such'])), ...asking }),
})
const creation = (asking: (world: World) => unknown): Cases => ({ any: ({ world }) => ({ body: asking(world) }) })

const newKey: WithIds = async (ids, { world, caller, succeeds }, place) =>
  succeeds
    ? { ids: { key_id: await (place === 'self' ? world.key('own', world.self(caller).account_id) : world.key(place)) } }
    : { ids }

const newTeam: WithIds = async (ids, { world, caller, succeeds }, place) => {
  if (!succeeds) return { ids }
  const { organization_id } = ids
  const { team_id } = await world.make('POST', '/teams', { organization_id, team_id: world.name() })
  if (caller !== 'teamadmin' || place !== 'own') return { ids: { team_id: team_id as string } }
  const as = await world.person({ teams: { [team_id as string]: 'team_admin' } })
  return { ids: { team_id: team_id as string }, as }
}

/** Users of programs, in the place's team. */
const newUser: WithIds = async (ids, { world, succeeds }) => {
  if (!succeeds) return { ids }
  const { user_id } = await world.make('POST', '/users', {})
  await world.make('POST', `/teams/${ids.team_id}/members`, { user_id, role: 'team_viewer' })
  return { ids: { ...ids, user_id: user_id as string } }
}

/** What is repeated once. */
const newBatch: WithIds = async (ids, { world, succeeds }, place) =>
  succeeds ? { ids: { batch_id: await world.batch(place as Place) } } : { ids }

const newBinding: WithIds = async (ids, { world, succeeds }) => {
  if (!succeeds) return { ids }
  const binding = { scope_type: 'team', scope_id: ids.team_id, callable_key: world.name() }
  const { binding_id } = await world.make('POST', '/callable-target-bindings', binding)
  return { ids: { binding_id: binding_id as string } }
}

const newAccount: WithIds = async (ids, { world, succeeds }) => {
  if (!succeeds) return { ids }
  const { accountId } = await world.person({ teams: { [ids.team_id as string]: 'team_viewer' } })
  return { ids: { account_id: accountId } }
}

const INVITED = 'somebody@example.com'
const inviting =
  (access: object): Case =>
  () => ({ body: { email: INVITED, ...access } })

/** An invitation to the place's team, and some to acme. */
const pending = async ({ world }: Occasion, access: object): Promise<Asking> => ({
  ids: {
    invitation_id: (await world.make('POST', '/invitations', { email: INVITED, ...access })).invitation_id as string,
  },
})
const invitations: Cases = {
  ...everywhere(({ team_id }, occasion, place) => (place === 'absent' ? {} : pending(occasion, { team_id }))),
  organization: (occasion) => pending(occasion, { organization_id: 'acme', team_id: 'red' }),
  'of owner': (occasion) => pending(occasion, { organization_id: 'acme', organization_role: 'org_owner' }),
  nowhere: (occasion) => pending(occasion, {}),
}

const newMember: WithIds = async (ids, { world, succeeds }) => {
  if (!succeeds) return { ids: { ...ids, user_id: ids.member_id as string } }
  const { userId } = await world.person({ organizations: { [ids.organization_id as string]: 'org_member' } })
  return { ids: { ...ids, user_id: userId } }
}

/** Leaving, as the caller's like. */
const leaving: Cases = {
  async self({ world, caller, succeeds }) {
    if (!succeeds) return { ids: world.self(caller) }
    const as = await world.another(caller)
    return { ids: { ...world.ids.own, user_id: as.userId }, as }
  },
}

/** Members of acme, by their roles there. */
const inOrganization = (role: string, wanted?: string): Case => {
  return async ({ world, succeeds }) => {
    const known = role === 'org_owner' ? world.ids.own.owner_id : world.ids.own.member_id
    const user = succeeds ? (await world.person({ organizations: { acme: role } })).userId : (known as string)
    const ids = { organization_id: 'acme', user_id: user }
    return wanted === undefined ? { ids } : { ids, body: { user_id: user, role: wanted } }
  }
}
const stranger = (role: string): Cases => ({
  async stranger({ world, succeeds }) {
    const { foreign, own } = world.ids
    const user = succeeds
      ? (await world.person({ teams: { [foreign.team_id as string]: 'team_viewer' } })).userId
      : foreign.user_id
    return { ids: own, body: { user_id: user, role } }
  },
})

const scope = (more: object): Cases => ({
  ...everywhere((ids, { world }) => ({ body: { scope_type: 'team', scope_id: ids.team_id, ...of(more, world) } })),
  organization: ({ world }) => ({ body: { scope_type: 'organization', scope_id: 'acme', ...of(more, world) } }),
  user: ({ world }) => ({ body: { scope_type: 'user', scope_id: world.ids.own.user_id, ...of(more, world) } }),
  key: ({ world }) => ({ body: { scope_type: 'api_key', scope_id: world.ids.own.key_id, ...of(more, world) } }),
  self: ({ world, caller }) => ({
    body: { scope_type: 'api_key', scope_id: world.self(caller).key_id, ...of(more, world) },
  }),
})
const of = (more: object, world: World) => ('callable_key' in more ? { ...more, callable_key: world.name() } : more)

const MODEL = { model_name: 'made', gateway_params: { model: 'echo/made' } }
const newModel =
  (sent?: unknown): Case =>
  async ({ world, succeeds }) => {
    if (!succeeds) return { ids: { deployment_id: 'kept' }, body: sent }
    const { deployment_id } = await world.make('POST', '/models', { ...MODEL, deployment_id: world.name() })
    return { ids: { deployment_id: deployment_id as string }, body: sent }
  }
const CREDENTIAL = { provider: 'echo', gateway_params: { api_key: 'any' } }
const newCredential =
  (sent?: unknown): Case =>
  async ({ world, succeeds }) => {
    if (!succeeds) return { ids: { name: 'shared' }, body: sent }
    const name = world.name()
    await world.make('POST', '/credentials', { name, ...CREDENTIAL })
    return { ids: { name }, body: sent }
  }
const MEMBERS = { members: [{ deployment_id: 'kept' }] }
/** A route group of its own, with what its policy is to have. */
const newGroup =
  (state: 'bare' | 'drafted' | 'published', sent?: unknown): Case =>
  async ({ world, succeeds }) => {
    if (!succeeds) return { ids: { name: 'pool' }, body: sent }
    const name = world.name()
    await world.make('POST', '/route-groups', { name, ...MEMBERS })
    if (state !== 'bare') await world.make('PUT', `/route-groups/${name}/policy/draft`, { num_retries: 1 })
    if (state === 'published') await world.make('POST', `/route-groups/${name}/policy/publish`)
    return { ids: { name }, body: sent }
  }

/** A server of tools that nobody listens for. */
const TOOL_SERVER = { base_url: 'http://127.0.0.1:1/mcp', allow_private: true, request_timeout_ms: 1000 }

const newToolServer =
  (sent?: unknown): Case =>
  async ({ world, succeeds }) => {
    if (!succeeds) return { ids: { server_key: 'tools' }, body: sent }
    const server_key = world.name()
    await world.make('POST', '/mcp-servers', { server_key, ...TOOL_SERVER })
    return { ids: { server_key }, body: sent }
  }

const PROMPT = { messages: [{ role: 'system', content: 'Be kind.' }] }

/** A prompt with two versions, whose label has stood at both. */
const newPrompt =
  ({ archived = false, ids = {}, body: sent }: { archived?: boolean; ids?: Ids; body?: unknown } = {}): Case =>
  async ({ world, succeeds }) => {
    if (!succeeds) return { ids: { key: 'kept', ...ids }, body: sent }
    const key = world.name()
    await world.make('POST', '/prompts', { key, labels: ['live'], ...PROMPT })
    await world.make('POST', `/prompts/${key}/versions`, { labels: ['live'], ...PROMPT })
    if (archived) await world.make('POST', `/prompts/${key}/archive`)
    return { ids: { key, ...ids }, body: sent }
  }

/** How each route of the administration is asked, by the cases that the matrix has rows for. */
export const REQUESTS: Readonly<Record<string, Cases>> = {
  'GET /ui/api/keys': { ...list('team_id'), mine: () => ({ query: '?owner=me' }) },
  'POST /ui/api/keys': {
    ...everywhere(({ team_id }) => ({ body: { team_id } })),
    organization: () => ({ body: { organization_id: 'acme' } }),
    'foreign organization': ({ world }) => ({ body: { organization_id: world.ids.foreign.organization_id } }),
    'foreign user': ({ world: { ids } }) => ({ body: { team_id: 'red', user_id: ids.foreign.user_id } }),
    nowhere: () => ({ body: {} }),
    'for another': () => ({ body: { team_id: 'red', owner_account_id: 'x' } }),
  },
  'GET /ui/api/keys/{key_id}': keys(),
  'PATCH /ui/api/keys/{key_id}': {
    ...keys(body({ rpm_limit: null })),
    'name of self': ({ world, caller }) => ({ ids: world.self(caller), body: { key_name: 'mine' } }),
    'foreign user': ({ world: { ids } }) => ({ ids: ids.own, body: { user_id: ids.foreign.user_id } }),
    'another team': ({ world: { ids } }) => ({ ids: ids.own, body: { team_id: ids.foreign.team_id } }),
  },
  'PUT /ui/api/keys/{key_id}': keys(body({})),
  'DELETE /ui/api/keys/{key_id}': keys(newKey),
  'POST /ui/api/keys/{key_id}/regenerate': keys(),
  'POST /ui/api/keys/{key_id}/revoke': keys(newKey),
  'GET /ui/api/teams': list('organization_id'),
  'POST /ui/api/teams': {
    ...organizations(({ organization_id }) => ({ body: { organization_id } })),
    'foreign id': ({ world }) => ({ body: { organization_id: 'acme', team_id: world.ids.foreign.team_id } }),
    'absent id': ({ world }) => ({ body: { organization_id: 'acme', team_id: world.name() } }),
    nowhere: () => ({ body: {} }),
  },
  'GET /ui/api/teams/{team_id}': everywhere(),
  'PATCH /ui/api/teams/{team_id}': {
    ...everywhere(body({ rpm_limit: null })),
    'another organization': ({ world: { ids } }) => ({
      ids: ids.own,
      body: { organization_id: ids.foreign.organization_id },
    }),
  },
  'PUT /ui/api/teams/{team_id}': everywhere(body({ self_service_keys_enabled: true })),
  'DELETE /ui/api/teams/{team_id}': everywhere(newTeam),
  'GET /ui/api/teams/{team_id}/members': everywhere(),
  'POST /ui/api/teams/{team_id}/members': {
    ...everywhere((ids) => ({ ids, body: { user_id: ids.user_id, role: 'team_developer' } })),
    ...stranger('team_viewer'),
    'organization role': ({ world: { ids } }) => ({
      ids: ids.own,
      body: { user_id: ids.own.user_id, role: 'org_owner' },
    }),
  },
  'DELETE /ui/api/teams/{team_id}/members/{user_id}': { ...everywhere(newUser), ...leaving },
  'GET /ui/api/organizations': list(),
  'POST /ui/api/organizations': creation(() => ({})),
  'GET /ui/api/organizations/{organization_id}': organizations(),
  'PATCH /ui/api/organizations/{organization_id}': organizations(body({ rpm_limit: null })),
  'PUT /ui/api/organizations/{organization_id}': organizations(body({})),
  'DELETE /ui/api/organizations/{organization_id}': organizations(async (ids, { world, succeeds }) =>
    succeeds ? { ids: await world.make('POST', '/organizations', {}) } : { ids },
  ),
  'GET /ui/api/organizations/{organization_id}/members': organizations(),
  'POST /ui/api/organizations/{organization_id}/members': {
    ...organizations((ids) => ({ ids, body: { user_id: ids.member_id, role: 'org_member' } })),
    'to administrator': inOrganization('org_member', 'org_admin'),
    'to owner': inOrganization('org_member', 'org_owner'),
    'from owner': inOrganization('org_owner', 'org_member'),
    ...stranger('org_member'),
  },
  'DELETE /ui/api/organizations/{organization_id}/members/{user_id}': {
    ...organizations(newMember),
    owner: inOrganization('org_owner'),
    ...leaving,
  },
  'GET /ui/api/users': list(),
  'POST /ui/api/users': creation(() => ({})),
  'GET /ui/api/users/{user_id}': everywhere(),
  'PATCH /ui/api/users/{user_id}': everywhere(body({ rpm_limit: null })),
  'PUT /ui/api/users/{user_id}': everywhere(body({})),
  'DELETE /ui/api/users/{user_id}': everywhere(newUser),
  'GET /ui/api/route-groups': list(),
  'POST /ui/api/route-groups': creation((world) => ({ name: world.name(), ...MEMBERS })),
  'GET /ui/api/route-groups/{name}': one({ name: 'pool' }),
  'PATCH /ui/api/route-groups/{name}': {
    ...one({ name: 'pool' }, { body: { enabled: true } }),
    any: newGroup('bare', { enabled: true }),
  },
  'PUT /ui/api/route-groups/{name}': {
    ...one({ name: 'pool' }, { body: MEMBERS }),
    any: newGroup('bare', MEMBERS),
  },
  'DELETE /ui/api/route-groups/{name}': { ...one({ name: 'pool' }), any: newGroup('bare') },
  'GET /ui/api/keys/{key_id}/standing': keys(),
  'GET /ui/api/budgets': list(),
  'GET /ui/api/accounts': list(),
  'GET /ui/api/accounts/{account_id}': everywhere(),
  'PATCH /ui/api/accounts/{account_id}': everywhere(body({ must_change_password: false })),
  'DELETE /ui/api/accounts/{account_id}': everywhere(newAccount),
  'POST /ui/api/accounts/{account_id}/end-sessions': everywhere(newAccount),
  'POST /ui/api/accounts/{account_id}/reset-mfa': everywhere(),
  'POST /ui/api/accounts/{account_id}/reset-password': everywhere(newAccount),
  'GET /ui/api/roles': { all: () => ({}) },
  'POST /ui/api/invitations': {
    ...everywhere(({ team_id }) => ({ body: { email: INVITED, team_id } })),
    organization: inviting({ organization_id: 'acme' }),
    'foreign organization': ({ world }) => ({
      body: { email: INVITED, organization_id: world.ids.foreign.organization_id },
    }),
    'team of another': ({ world }) => ({
      body: { email: INVITED, organization_id: 'acme', team_id: world.ids.foreign.team_id },
    }),
    both: inviting({ organization_id: 'acme', team_id: 'red', team_role: 'team_admin' }),
    administrator: inviting({ organization_id: 'acme', organization_role: 'org_admin' }),
    owner: inviting({ organization_id: 'acme', organization_role: 'org_owner' }),
    nowhere: inviting({}),
  },
  'GET /ui/api/invitations': list('team_id'),
  'POST /ui/api/invitations/{invitation_id}/resend': invitations,
  'POST /ui/api/invitations/{invitation_id}/cancel': invitations,
  'GET /ui/api/callbacks': list(),
  'POST /ui/api/callbacks/{name}/test': one({ name: 'webhook' }),
  'GET /ui/api/dead-letters': list(),
  'POST /ui/api/dead-letters/replay': creation(() => ({})),
  'DELETE /ui/api/dead-letters': { all: () => ({ query: '?topic=ledger' }) },
  'DELETE /ui/api/dead-letters/{letter_id}': { absent: () => ({ ids: { letter_id: 'no-such' } }) },
  'GET /ui/api/email/outbox': list(),
  'POST /ui/api/sso/check': creation(() => ({})),
  'POST /ui/api/email/test': creation(() => ({ recipient: 'ann@example.com' })),
  'GET /ui/api/organizations/{organization_id}/model-access': organizations(),
  'PUT /ui/api/organizations/{organization_id}/model-access': organizations(body({})),
  'GET /ui/api/teams/{team_id}/model-access': everywhere(),
  'PUT /ui/api/teams/{team_id}/model-access': everywhere(async (ids, occasion, place) => ({
    ...(await newTeam(ids, occasion, place)),
    body: { models: ['m'] },
  })),
  'GET /ui/api/users/{user_id}/model-access': everywhere(),
  'PUT /ui/api/users/{user_id}/model-access': everywhere(body({})),
  'GET /ui/api/keys/{key_id}/model-access': keys(),
  'PUT /ui/api/keys/{key_id}/model-access': keys(body({})),
  'POST /ui/api/models/{deployment_id}/check': one({ deployment_id: 'kept' }),
  'POST /ui/api/models/{deployment_id}/release': one({ deployment_id: 'kept' }),
  'POST /ui/api/models/{deployment_id}/drain': one({ deployment_id: 'kept' }),
  'POST /ui/api/models/{deployment_id}/resume': one({ deployment_id: 'kept' }),
  'GET /ui/api/callable-target-bindings': list(),
  'POST /ui/api/callable-target-bindings': scope({ callable_key: '' }),
  'GET /ui/api/callable-target-bindings/{binding_id}': everywhere(),
  'PATCH /ui/api/callable-target-bindings/{binding_id}': everywhere(body({ enabled: true })),
  'DELETE /ui/api/callable-target-bindings/{binding_id}': everywhere(newBinding),
  'GET /ui/api/callable-target-policies': list(),
  'PUT /ui/api/callable-target-policies': scope({ mode: null }),
  'GET /ui/api/callable-models': {
    ...list(),
    ...keys(({ key_id }) => ({ query: `?key_id=${key_id}` })),
  },
  'GET /ui/api/callable-targets': { all: () => ({}) },
  'GET /ui/api/models': list(),
  'POST /ui/api/models': creation((world) => ({ ...MODEL, deployment_id: world.name() })),
  'GET /ui/api/models/{deployment_id}': one({ deployment_id: 'kept' }),
  'PATCH /ui/api/models/{deployment_id}': {
    ...one({ deployment_id: 'kept' }, { body: { model_info: {} } }),
    any: newModel({ model_info: {} }),
  },
  'PUT /ui/api/models/{deployment_id}': {
    ...one({ deployment_id: 'kept' }, { body: MODEL }),
    any: newModel(MODEL),
  },
  'DELETE /ui/api/models/{deployment_id}': { ...one({ deployment_id: 'kept' }), any: newModel() },
  'POST /ui/api/models/test': creation(() => MODEL),
  'GET /ui/api/credentials': list(),
  'POST /ui/api/credentials': creation((world) => ({ ...CREDENTIAL, name: world.name() })),
  'GET /ui/api/credentials/{name}': { ...one({ name: 'shared' }), any: newCredential() },
  'PATCH /ui/api/credentials/{name}': {
    ...one({ name: 'shared' }, { body: CREDENTIAL }),
    any: newCredential(CREDENTIAL),
  },
  'DELETE /ui/api/credentials/{name}': { ...one({ name: 'shared' }), any: newCredential() },
  'GET /ui/api/fallbacks': { all: () => ({}) },
  'GET /ui/api/providers': list(),
  'POST /ui/api/providers/{kind}/models': one({ kind: 'echo' }, { body: {} }),
  'GET /ui/api/prices': list(),
  'GET /ui/api/route-group-policies': list(),
  'GET /ui/api/route-groups/{name}/policy': one({ name: 'pool' }),
  'PUT /ui/api/route-groups/{name}/policy/draft': { ...one({ name: 'pool' }, { body: {} }), any: newGroup('bare', {}) },
  'DELETE /ui/api/route-groups/{name}/policy/draft': { ...one({ name: 'pool' }), any: newGroup('drafted') },
  'POST /ui/api/route-groups/{name}/policy/validate': one({ name: 'pool' }, { body: {} }),
  'POST /ui/api/route-groups/{name}/policy/publish': { ...one({ name: 'pool' }), any: newGroup('drafted') },
  'POST /ui/api/route-groups/{name}/policy/rollback': {
    ...one({ name: 'pool' }, { body: { version: 1 } }),
    any: newGroup('published', { version: 1 }),
  },
  'GET /ui/api/route-groups/{name}/policy/versions': one({ name: 'pool' }),
  'POST /ui/api/route-groups/{name}/simulate': one({ name: 'pool' }, { body: {} }),
  'GET /ui/api/mcp-servers': list(),
  'POST /ui/api/mcp-servers': creation((world) => ({ ...TOOL_SERVER, server_key: world.name() })),
  'GET /ui/api/mcp-servers/{server_key}': one({ server_key: 'tools' }),
  'PATCH /ui/api/mcp-servers/{server_key}': {
    ...one({ server_key: 'tools' }, { body: { enabled: true } }),
    any: newToolServer({ enabled: true }),
  },
  'PUT /ui/api/mcp-servers/{server_key}': {
    ...one({ server_key: 'tools' }, { body: TOOL_SERVER }),
    any: newToolServer(TOOL_SERVER),
  },
  'DELETE /ui/api/mcp-servers/{server_key}': { ...one({ server_key: 'tools' }), any: newToolServer() },
  'POST /ui/api/mcp-servers/check': creation(() => ({ ...TOOL_SERVER, server_key: 'draft' })),
  'POST /ui/api/mcp-servers/{server_key}/check': one({ server_key: 'tools' }),
  'POST /ui/api/mcp-servers/{server_key}/call': one({ server_key: 'tools' }, { body: { tool: 'any' } }),
  'GET /ui/api/prompts': list(),
  'POST /ui/api/prompts': creation((world) => ({ ...PROMPT, key: world.name() })),
  'GET /ui/api/prompts/{key}': one({ key: 'kept' }),
  'PATCH /ui/api/prompts/{key}': {
    ...one({ key: 'kept' }, { body: { description: 'x' } }),
    any: newPrompt({ body: { description: 'x' } }),
  },
  'POST /ui/api/prompts/{key}/archive': { ...one({ key: 'kept' }), any: newPrompt() },
  'POST /ui/api/prompts/{key}/unarchive': { ...one({ key: 'kept' }), any: newPrompt({ archived: true }) },
  'DELETE /ui/api/prompts/{key}': { ...one({ key: 'kept' }), any: newPrompt({ archived: true }) },
  'POST /ui/api/prompts/{key}/versions': {
    ...one({ key: 'kept' }, { body: PROMPT }),
    any: newPrompt({ body: PROMPT }),
  },
  'GET /ui/api/prompts/{key}/versions': one({ key: 'kept' }),
  'GET /ui/api/prompts/{key}/versions/{version}': {
    ...one({ key: 'kept', version: '1' }),
    absent: () => ({ ids: { key: 'kept', version: '99' } }),
  },
  'POST /ui/api/prompts/{key}/render': one({ key: 'kept' }, { body: { version: 1 } }),
  'POST /ui/api/prompts/render': creation(() => PROMPT),
  'GET /ui/api/prompts/{key}/diff': one({ key: 'kept' }, { query: '?from=1&to=2' }),
  'PUT /ui/api/prompts/{key}/labels/{label}': {
    ...one({ key: 'kept', label: 'live' }, { body: { version: 1 } }),
    any: newPrompt({ ids: { label: 'live' }, body: { version: 1 } }),
  },
  'DELETE /ui/api/prompts/{key}/labels/{label}': {
    ...one({ key: 'kept', label: 'live' }),
    any: newPrompt({ ids: { label: 'live' } }),
  },
  'POST /ui/api/prompts/{key}/roll-back': {
    ...one({ key: 'kept' }, { body: { label: 'live' } }),
    any: newPrompt({ body: { label: 'live' } }),
  },
  'DELETE /ui/api/cache': { all: () => ({}) },
  'GET /ui/api/audit/events': list('organization_id'),
  'GET /ui/api/config': list(),
  'POST /ui/api/config/check': creation(() => ({ yaml: 'model_list: []' })),
  'GET /ui/api/instance': list(),
  'GET /ui/api/spend/summary': {
    all: () => ({}),
    mine: () => ({ query: '?owner=me' }),
    foreign: ({ world }) => ({ query: `?team_id=${world.ids.foreign.team_id}` }),
  },
  'GET /ui/api/spend/report': {
    all: () => ({ query: '?group_by=team' }),
    mine: () => ({ query: '?group_by=team&owner=me' }),
    foreign: ({ world }) => ({ query: `?group_by=key&team_id=${world.ids.foreign.team_id}` }),
  },
  'GET /ui/api/logs': { ...list('team_id'), mine: () => ({ query: '?owner=me' }) },
  'GET /ui/api/logs/{call_id}': keys(),
  'GET /ui/api/refusals': { ...list('team_id'), mine: () => ({ query: '?owner=me' }) },
  'GET /ui/api/batches': list('team_id'),
  'GET /ui/api/batches/{batch_id}': everywhere(),
  'GET /ui/api/batches/{batch_id}/items': everywhere(),
  'GET /ui/api/batches/{batch_id}/files/{file}': everywhere((ids) => ({ ids: { ...ids, file: 'input' } })),
  'POST /ui/api/batches/{batch_id}/cancel': everywhere(),
  'POST /ui/api/batches/{batch_id}/retry-failed': everywhere(newBatch),
  'POST /ui/api/batches/files': asKey({}),
  'POST /ui/api/batches': asKey({ input_file_id: 'file-none', endpoint: '/v1/embeddings' }),
  'POST /ui/api/playground/chat/completions': asKey({}),
  'POST /ui/api/playground/messages': asKey({}),
  'POST /ui/api/playground/responses': asKey({}),
  'POST /ui/api/playground/completions': asKey({}),
  'POST /ui/api/playground/embeddings': asKey({}),
  'POST /ui/api/playground/images/generations': asKey({}),
  'POST /ui/api/playground/images/edits': asKey({}),
  'POST /ui/api/playground/audio/speech': asKey({}),
  'POST /ui/api/playground/audio/transcriptions': asKey({}),
  'POST /ui/api/playground/audio/translations': asKey({}),
  'POST /ui/api/playground/rerank': asKey({}),
  'POST /ui/api/playground/moderations': asKey({}),
}
