/** What the pages of the console ask of a gateway with much data, as their addresses have it: each list with the orders and
 *  filters that its page offers, over the ranges that it begins with and the longest one. */
export interface ConsoleRequest {
  readonly page: string
  readonly path: string
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

type Query = Readonly<Record<string, string | number>>

function path(route: string, ...queries: readonly Query[]): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(Object.assign({}, ...queries))) query.set(name, String(value))
  return query.size === 0 ? route : `${route}?${query}`
}

const LIST = { limit: 100 }
const EACH_SCOPE: readonly Query[] = [
  { organization_id: 'org-7' },
  { team_id: 'team-7' },
  { user_id: 'user-8' },
  { key_id: 'key-8' },
  { key_id: 'key-0' },
]
const GROUPS = ['model', 'provider', 'deployment', 'organization', 'team', 'user', 'key', 'tag']

export function consoleRequests(now: number): readonly ConsoleRequest[] {
  const to = Math.ceil(now / HOUR) * HOUR
  const iso = (time: number) => new Date(time).toISOString()
  const last = (length: number) => ({ from: iso(to - length), to: iso(to) })
  const [day, week, month] = [last(DAY), last(7 * DAY), last(30 * DAY)]
  const soon = { ends_before: iso(to + 7 * DAY) }
  const requests: ConsoleRequest[] = []
  const page = (name: string, route: string, queries: readonly Query[], common: Query = {}) =>
    requests.push(...queries.map((query) => ({ page: name, path: path(route, common, query) })))

  page('overview', '/ui/api/spend/summary', [day, month, { ...day, organization_id: 'org-7' }])
  page('overview', '/ui/api/spend/report', [
    { ...day, group_by: 'hour', split_by: 'model', split_top: 7, limit: 10_000 },
    { ...month, group_by: 'day', split_by: 'model', split_top: 7, limit: 10_000 },
  ])
  page('overview', '/ui/api/budgets', [{ above: 0.8, limit: 20 }])
  page('overview', '/ui/api/keys', [{ ...soon, state: 'active', limit: 20 }])

  const usage = { split_top: 7, limit: 10_000 }
  for (const [range, step] of [
    [week, 'hour'],
    [week, 'day'],
    [month, 'day'],
  ] as const) {
    page(
      'usage',
      '/ui/api/spend/report',
      GROUPS.map((group) => ({ ...range, ...usage, group_by: step, split_by: group })),
    )
  }
  for (const range of [week, month]) {
    page(
      'usage',
      '/ui/api/spend/report',
      GROUPS.map((group) => ({ ...range, ...LIST, group_by: group })),
    )
    page('usage', '/ui/api/spend/summary', [range, ...EACH_SCOPE.map((scope) => ({ ...range, ...scope }))])
  }
  for (const scope of [...EACH_SCOPE, { model: 'model-3' }, { tag: 'tag-3' }, { deployment: 'model-3-1' }]) {
    page('usage', '/ui/api/spend/report', [
      { ...month, ...usage, ...scope, group_by: 'day', split_by: 'model' },
      { ...month, ...LIST, ...scope, group_by: 'model' },
      { ...month, ...LIST, ...scope, group_by: 'key' },
    ])
  }

  const filters: readonly Query[] = [
    {},
    ...['answered', 'failed', 'truncated', 'client_closed'].map((ending) => ({ ending })),
    { model: 'model-11' },
    { deployment: 'model-3-1' },
    { provider: 'provider-2' },
    ...EACH_SCOPE,
    { tag: 'tag-30' },
    { status: 502 },
    { status: 418 },
    { error_type: 'api_error' },
    { error_type: 'nothing' },
    { endpoint: '/v1/rerank' },
    { endpoint: '/v1/chat/completions' },
    { failed_over: 'true' },
    { refused: 'true' },
    { unpriced: 'true' },
    { cache: 'hit' },
    { cache: 'miss' },
    { min_total_ms: 5000 },
    { min_total_ms: 30_000 },
    { prompt: 'greeting@1' },
    { batch_id: 'batch-none' },
    { request_id: 'req_4711' },
    { key_id: 'key-8', model: 'model-none' },
    { team_id: 'team-7', ending: 'failed' },
  ]
  for (const range of [day, month]) {
    page(
      'requests',
      '/ui/api/logs',
      filters.map((filter) => ({ ...range, ...filter })),
      LIST,
    )
    page('requests', '/ui/api/refusals', [{ ...range }, ...EACH_SCOPE.map((scope) => ({ ...range, ...scope }))], LIST)
  }
  page('requests', '/ui/api/spend/report', [
    { ...day, group_by: 'hour', limit: 1000 },
    { ...day, group_by: 'hour', limit: 1000, model: 'model-3' },
    { ...month, group_by: 'day', limit: 1000, team_id: 'team-7' },
  ])
  page('requests', '/ui/api/logs/call_5000000', [{}])

  const orders = ['name', 'created_at', 'spend', 'last_used_at']
  const keyFilters: readonly Query[] = [
    {},
    ...['active', 'over_budget', 'owner_disabled', 'expired', 'revoked'].map((state) => ({ state })),
    { team_id: 'team-7' },
    { organization_id: 'org-7' },
    { user_id: 'user-8' },
    soon,
    { search: 'key 9999' },
    { search: 'nothing is called so' },
  ]
  page(
    'keys',
    '/ui/api/keys',
    orders.flatMap((order) => keyFilters.map((filter) => ({ ...LIST, order, ...filter }))),
  )
  for (const route of ['', '/standing', '/model-access']) page('keys', `/ui/api/keys/key-8${route}`, [{}])
  page('keys', '/ui/api/logs', [
    { key_id: 'key-8', limit: 25 },
    { key_id: 'key-8', refused: 'true', limit: 5 },
  ])
  page('keys', '/ui/api/audit/events', [{ resource_id: 'key-8', limit: 50 }])

  for (const [name, search] of [
    ['teams', 'team 99'],
    ['organizations', 'organization 4'],
    ['users', 'person 1999'],
  ] as const) {
    page(name, `/ui/api/${name}`, [{}, { search }, { search, limit: 20 }, { order: 'spend' }, { order: 'name' }], LIST)
  }
  page('teams', '/ui/api/teams', [{ ...LIST, organization_id: 'org-7' }])
  for (const place of ['teams/team-7', 'organizations/org-7']) {
    for (const route of ['', '/members', '/model-access']) page('teams', `/ui/api/${place}${route}`, [{}])
  }
  const people: readonly Query[] = [
    {},
    { search: 'person1999' },
    { state: 'disabled' },
    { organization_id: 'org-7' },
    { team_id: 'team-7' },
    { platform_role: 'platform_admin' },
    { mfa_enabled: 'true' },
  ]
  page('people', '/ui/api/accounts', people, LIST)
  const invitations: readonly Query[] = [{}, { state: 'pending' }, { search: 'person1999' }, { team_id: 'team-7' }]
  page('people', '/ui/api/invitations', invitations, LIST)
  page('batches', '/ui/api/batches', [{}, { status: 'failed' }, { status: 'in_progress' }, { team_id: 'team-7' }], LIST)
  const audited: readonly Query[] = [
    {},
    { action: 'key.revoke' },
    { action: 'nothing.done' },
    { resource_type: 'team' },
    { resource_id: 'key-8' },
    { status: 'refused' },
    { status: 'ok' },
    { request_id: 'req_a4711' },
    { actor_id: 'acct-8' },
    { organization_id: 'org-7' },
  ]
  page(
    'audit',
    '/ui/api/audit/events',
    [week, month].flatMap(({ from }) => audited.map((filter) => ({ from, ...filter }))),
    LIST,
  )
  for (const route of ['/health/deployments', '/ui/api/callable-models', '/ui/api/models', '/ui/api/route-groups']) {
    page('models', route, [{}])
  }
  page('settings', '/ui/api/instance', [{}])
  return requests
}
