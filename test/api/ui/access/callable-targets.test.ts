import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { type Person, signedIn } from '../../../support/people.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')

const ALL = ['big', 'broken', 'fast', 'nickname', 'pool', 'small']
const SCOPES = [
  ['organizations', 'acme', 'organization'],
  ['teams', 'red', 'team'],
  ['users', 'ann', 'user'],
  ['keys', 'k-red', 'api_key'],
] as const

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

const OWN_MODELS = new Set(['big', 'small', 'fast', 'broken', 'pool', 'nickname'])

describe.skipIf(!postgresUrl || !redisUrl)('callable targets', () => {
  let one: FullGateway
  let other: FullGateway
  /** Where nothing may be called until something is bound. */
  let strict: FullGateway
  const keys = new Map<string, { readonly key: string; readonly key_id: string }>()

  beforeAll(async () => {
    const url = await preparedDatabase(postgresUrl)
    const yaml = (byDefault: string) =>
      [
        `general_settings: { database_url: '${url}', redis_url: '${redisUrl}', callable_target_default: ${byDefault} }`,
        'router_settings: { model_group_alias: { nickname: big }, cooldown_time: 0 }',
        'gateway_settings:',
        '  fallbacks: [{ broken: [small] }]',
        '  mcp_servers:',
        '    - { server_key: web, base_url: "http://127.0.0.1:9/mcp" }',
        '    - { server_key: files, base_url: "http://127.0.0.1:9/mcp", enabled: false }',
        'model_list:',
        '  - { model_name: big, gateway_params: { model: echo/big }, model_info: { access_groups: [paid] } }',
        '  - { model_name: big, gateway_params: { model: echo/big } }',
        '  - { model_name: small, gateway_params: { model: echo/small }, model_info: { owned_by: us } }',
        '  - { model_name: fast, gateway_params: { model: echo/fast }, model_info: { access_groups: [paid, free] } }',
        '  - model_name: broken',
        '    gateway_params: { model: openai-compatible/x, api_base: http://127.0.0.1:9/v1, api_key: k }',
      ].join('\n')
    ;[one, other, strict] = await Promise.all([
      startFullGateway(yaml('allow')),
      startFullGateway(yaml('allow')),
      startFullGateway(yaml('deny')),
    ])
    await admin('POST', '/organizations', { organization_id: 'acme' })
    await admin('POST', '/teams', { team_id: 'red', organization_id: 'acme' })
    await admin('POST', '/users', { user_id: 'ann' })
    keys.set('k-red', (await admin('POST', '/keys', { team_id: 'red', user_id: 'ann' })).body)
    keys.set('k-alone', (await admin('POST', '/keys', {})).body)
    await admin('POST', '/route-groups', {
      name: 'pool',
      members: [{ model_name: 'small' }, { model_name: 'big' }],
    })
    // A route group is known elsewhere within five seconds.
    for (const gateway of [one, other, strict]) {
      await vi.waitFor(async () => expect((await gateway.fetch('/v1/models/pool')).status).toBe(200), 15_000)
    }
  })
  afterEach(async () => {
    for (const [collection, id] of SCOPES) await admin('PUT', `/${collection}/${id}/model-access`, {})
  })
  afterAll(async () => {
    await Promise.all([one?.close(), other?.close(), strict?.close()])
  })

  const as = (name: string) => ({ authorization: `Bearer ${keys.get(name)?.key}` })

  /** Tests speak of keys by their names, the API by their ids. */
  const withIds = (text: string) => [...keys].reduce((all, [name, { key_id }]) => all.replaceAll(name, key_id), text)
  const withNames = (text: string) => [...keys].reduce((all, [name, { key_id }]) => all.replaceAll(key_id, name), text)

  async function admin(method: string, path: string, body?: unknown, gateway = one, headers = {}): Promise<Answer> {
    const response = await gateway.fetch(`/ui/api${withIds(path)}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: withIds(JSON.stringify(body)) }),
    })
    return { status: response.status, body: JSON.parse(withNames(await response.text())) }
  }

  const access = (path: string, body: unknown, gateway = one) => admin('PUT', `${path}/model-access`, body, gateway)

  function call(model: string, key = 'k-red', gateway = one): Promise<Response> {
    return gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...as(key) },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    })
  }

  async function listed(key = 'k-red', gateway = one): Promise<string[]> {
    const { data } = (await (await gateway.fetch('/v1/models', { headers: as(key) })).json()) as {
      data: { id: string }[]
    }
    return data.map(({ id }) => id)
  }

  /** What answers a call, which is also what is listed. */
  async function callable(key = 'k-red', gateway = one): Promise<string[]> {
    const answers = await Promise.all(
      ALL.map(async (model) => {
        const response = await call(model, key, gateway)
        await response.text()
        expect([200, 404]).toContain(response.status)
        return response.status === 200 ? [model] : []
      }),
    )
    const names = answers.flat()
    expect(await listed(key, gateway)).toEqual(names)
    for (const model of ALL) {
      const { status } = await gateway.fetch(`/v1/models/${model}`, { headers: as(key) })
      expect([model, status]).toEqual([model, names.includes(model) ? 200 : 404])
    }
    return names
  }

  it('everything, until something is bound', async () => {
    expect(await callable()).toEqual(ALL)
    expect(await callable('k-alone')).toEqual(ALL)
    expect((await admin('GET', '/callable-target-bindings')).body).toEqual({ data: [], next_cursor: null })
  })

  it.each(SCOPES)(
    'bound to one of the %s, in every process from the next request',
    async (collection, id, scope_type) => {
      expect([await listed(), await listed('k-red', other)]).toEqual([ALL, ALL])
      const bind = (callable_key: string) =>
        admin('POST', '/callable-target-bindings', { scope_type, scope_id: id, callable_key })
      const made = await bind('small')
      expect(made).toMatchObject({
        status: 201,
        body: { scope_type, scope_id: id, callable_kind: 'target', callable_key: 'small', enabled: true },
      })
      expect((await call('big', 'k-red', other)).status).toBe(404)
      expect(await callable('k-red', other)).toEqual(['small'])
      expect(await callable()).toEqual(['small'])
      expect(await callable('k-alone', other)).toEqual(ALL)

      const path = `/callable-target-bindings/${made.body.binding_id}`
      expect((await admin('GET', path, undefined, other)).body).toEqual(made.body)
      expect(await admin('PATCH', path, { callable_key: 'fast' }, other)).toMatchObject({
        status: 200,
        body: { callable_key: 'fast', enabled: true },
      })
      expect((await call('small')).status).toBe(404)
      expect((await call('fast')).status).toBe(200)
      await admin('PATCH', path, { enabled: false })
      expect((await call('fast', 'k-red', other)).status).toBe(404)
      expect(await callable()).toEqual([])
      expect((await admin('GET', `/${collection}/${id}/model-access`)).body).toEqual({
        mode: 'restrict',
        models: [],
        access_groups: [],
        effective: [],
        version: expect.any(Number),
      })
      expect(await admin('DELETE', path)).toMatchObject({ status: 200, body: { binding_id: made.body.binding_id } })
      expect((await call('big', 'k-red', other)).status).toBe(200)
      expect(await callable()).toEqual(ALL)
      for (const method of ['GET', 'DELETE']) expect((await admin(method, path)).status).toBe(404)
    },
  )

  it('the organization is the ceiling, and each level below narrows', async () => {
    expect(await access('/organizations/acme', { models: ['big', 'small', 'fast'] })).toEqual({
      status: 200,
      body: {
        mode: null,
        models: ['big', 'fast', 'small'],
        access_groups: [],
        effective: ['big', 'fast', 'nickname', 'small'],
        version: expect.any(Number),
      },
    })
    await access('/teams/red', { models: ['big', 'fast', 'pool'] })
    expect(await callable()).toEqual(['big', 'fast', 'nickname'])
    await access('/users/ann', { models: ['fast', 'small'] })
    expect(await callable('k-red', other)).toEqual(['fast'])
    expect((await access('/keys/k-red', { models: ['small', 'big'] })).body.effective).toEqual([])
    expect(await callable()).toEqual([])
    await access('/keys/k-red', { mode: 'inherit', models: ['small', 'big'] })
    expect(await callable()).toEqual(['fast'])
    expect((await admin('GET', '/users/ann/model-access')).body.effective).toEqual(['fast', 'small'])
    expect((await admin('GET', '/teams/red/model-access')).body.effective).toEqual(['big', 'fast', 'nickname'])
    expect(await callable('k-alone')).toEqual(ALL)
  })

  it('policies say how a scope takes its bindings', async () => {
    const scope = { scope_type: 'team', scope_id: 'red' }
    await access('/teams/red', { models: ['small'] })
    const put = (mode: string | null, gateway = one) =>
      admin('PUT', '/callable-target-policies', { ...scope, mode }, gateway)
    expect(await put('inherit')).toEqual({ status: 200, body: { ...scope, mode: 'inherit' } })
    expect(await callable('k-red', other)).toEqual(ALL)
    await put('restrict', other)
    expect(await callable()).toEqual(['small'])
    const { body } = await admin('GET', '/callable-target-policies?scope_type=team&scope_id=red')
    expect(body).toEqual({ data: [{ ...scope, mode: 'restrict' }], next_cursor: null })
    await access('/teams/red', { mode: 'restrict' })
    expect(await callable('k-red', other)).toEqual([])
    await put(null)
    expect(await callable()).toEqual(ALL)
    expect((await admin('GET', '/callable-target-policies')).body.data).toEqual([])
  })

  it('no call passes after the answer to a change, while calls and readings of the caller go on all the time', async () => {
    let over = false
    const traffic = [one, other].map(async (gateway) => {
      while (!over) {
        const { status } = await call('big', 'k-red', gateway)
        expect([200, 404]).toContain(status)
      }
    })
    for (let turn = 0; turn < 15; turn++) {
      const [collection, id] = SCOPES[turn % SCOPES.length] ?? SCOPES[0]
      const [changing, calling] = turn % 2 === 0 ? [one, other] : [other, one]
      for (const [models, status] of [
        [['small'], 404],
        [[], 200],
      ] as const) {
        await access(`/${collection}/${id}`, { models }, changing)
        const calls = [calling, changing].flatMap((gateway) => Array.from({ length: 4 }, () => gateway))
        const answers = await Promise.all(calls.map((gateway) => call('big', 'k-red', gateway)))
        expect(answers.map((answer) => answer.status)).toEqual(calls.map(() => status))
      }
    }
    over = true
    await Promise.all(traffic)
  })

  it('policies come in pages', async () => {
    for (const [collection, id] of SCOPES) await access(`/${collection}/${id}`, { mode: 'inherit' })
    const first = await admin('GET', '/callable-target-policies?limit=3')
    const rest = await admin('GET', `/callable-target-policies?limit=3&cursor=${first.body.next_cursor}`)
    expect([...first.body.data, ...rest.body.data].map(({ scope_type }) => scope_type)).toEqual([
      'api_key',
      'organization',
      'team',
      'user',
    ])
    expect(rest.body.next_cursor).toBeNull()
    expect((await admin('GET', '/callable-target-policies?cursor=x')).body.error.param).toBe('cursor')
  })

  it('where the default is deny, nothing, until something is bound at any level', async () => {
    expect(await callable('k-red', strict)).toEqual([])
    expect(await callable('k-alone', strict)).toEqual([])
    await access('/teams/red', { models: ['small'] }, strict)
    expect(await callable('k-red', strict)).toEqual(['small'])
    expect(await callable('k-alone', strict)).toEqual([])
    await access('/teams/red', { mode: 'inherit', models: ['small'] }, strict)
    expect(await callable('k-red', strict)).toEqual([])
    await access('/keys/k-red', { access_groups: ['free'] }, strict)
    expect(await callable('k-red', strict)).toEqual(['fast'])
    expect((await strict.fetch('/v1/models/big')).status).toBe(200)
  })

  it('a label opens the models that have it', async () => {
    await access('/teams/red', { access_groups: ['paid'] })
    // pool has small, which is without the label.
    expect(await callable()).toEqual(['big', 'fast', 'nickname'])
    await access('/teams/red', { access_groups: ['free'], models: ['small'] })
    expect(await callable('k-red', other)).toEqual(['fast', 'small'])
    await access('/teams/red', { models: ['paid'] })
    expect(await callable()).toEqual([])
  })

  it('a route group opens its members through it alone; an alias is its group; fallbacks need no binding', async () => {
    await access('/teams/red', { models: ['pool'] })
    expect(await callable()).toEqual(['pool'])
    await access('/teams/red', { models: ['big'] })
    expect(await callable()).toEqual(['big', 'nickname'])
    await access('/teams/red', { models: ['broken'] })
    expect(await callable()).toEqual(['broken'])
    expect((await call('broken')).headers.get('x-gateway-deployment')).toBe('small-1')
    for (const [path, body, param] of [
      ['/callable-target-bindings', { scope_type: 'team', scope_id: 'red', callable_key: 'nickname' }, 'callable_key'],
      ['/teams/red/model-access', { models: ['big', 'nickname'] }, 'models[1]'],
    ] as const) {
      const answer = await admin(path.endsWith('access') ? 'PUT' : 'POST', path, body)
      expect(answer).toMatchObject({ status: 400, body: { error: { param } } })
      expect(answer.body.error.message).toContain("bind 'big'")
    }
  })

  it.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }],
    ['/v1/completions', { prompt: 'Hello' }],
    ['/v1/responses', { input: 'Hello' }],
    ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] }],
    ['/v1/messages/count_tokens', { messages: [{ role: 'user', content: 'Hello' }] }],
    ['/v1/embeddings', { input: 'Hello' }],
    ['/v1/images/generations', { prompt: 'Hello' }],
    ['/v1/audio/speech', { input: 'Hello', voice: 'a' }],
    ['/v1/rerank', { query: 'Hello', documents: ['a'] }],
  ])('on %s what may not be called is answered as what does not exist, to the byte', async (path, body) => {
    await access('/keys/k-red', { models: ['small'] })
    const heard = async (model: string) => {
      const response = await one.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': 'the-same', ...as('k-red') },
        body: JSON.stringify({ model, ...body }),
      })
      const headers = [...response.headers].filter(([name]) => name !== 'date')
      return { status: response.status, headers, body: (await response.text()).replaceAll(model, 'MODEL') }
    }
    for (const model of ['big', 'pool', 'nickname', 'broken']) {
      const absent = await heard('-'.repeat(model.length))
      expect(absent.status).toBe(404)
      expect(absent.body).toContain("'MODEL'")
      expect(await heard(model)).toEqual(absent)
    }
  })

  it('GET /v1/models/{id} of what may not be called is that of what does not exist; each has its owner', async () => {
    await access('/keys/k-red', { models: ['small'] })
    const heard = async (model: string) => {
      const response = await one.fetch(`/v1/models/${model}`, { headers: as('k-red') })
      return { status: response.status, body: (await response.text()).replaceAll(model, 'MODEL') }
    }
    expect(await heard('big')).toEqual(await heard('nil'))
    const small = await (await one.fetch('/v1/models/small', { headers: as('k-red') })).json()
    expect(small).toMatchObject({ id: 'small', owned_by: 'us' })
    expect(await (await one.fetch('/v1/models/pool')).json()).toMatchObject({ owned_by: 'us' })
    expect(await (await one.fetch('/v1/models/fast')).json()).toMatchObject({ owned_by: 'gateway' })
  })

  it('health tells of what may be called, and of nothing else', async () => {
    const health = async (query = '') => {
      const response = await one.fetch(`/health/deployments${query}`, { headers: as('k-red') })
      const { deployments } = (await response.json()) as { deployments: { deployment_id: string }[] }
      return deployments.map(({ deployment_id: id }) => id)
    }
    const sources = async (query = '') => {
      const response = await other.fetch(`/health/fallback-events${query}`, { headers: as('k-red') })
      const { events } = (await response.json()) as { events: { source_model: string }[] }
      // The store is shared with gateways of other tests.
      return new Set(events.map(({ source_model }) => source_model).filter((name) => OWN_MODELS.has(name)))
    }
    expect((await call('broken')).status).toBe(200)
    expect(await health()).toEqual(['big-1', 'big-2', 'small-1', 'fast-1', 'broken-1'])
    await expect.poll(() => sources()).toEqual(new Set(['broken']))
    await access('/teams/red', { models: ['pool', 'fast'] })
    expect(await health()).toEqual(['fast-1', 'big-1', 'big-2', 'small-1'])
    expect(await health('?model=pool')).toEqual(['big-1', 'big-2', 'small-1'])
    for (const model of ['big', 'nickname', 'nil']) expect(await health(`?model=${model}`)).toEqual([])
    expect(await sources()).toEqual(new Set())
    await access('/teams/red', { models: ['broken'] })
    expect(await sources('?limit=1')).toEqual(new Set(['broken']))
  })

  it('whoever may call a route group alone hears of its members', async () => {
    expect((await call('broken')).status).toBe(200)
    await admin('POST', '/route-groups', { name: 'shaky', members: [{ model_name: 'broken' }] })
    await access('/teams/red', { models: ['shaky'] })
    expect((await call('broken')).status).toBe(404)
    const response = await one.fetch('/health/fallback-events', { headers: as('k-red') })
    const { events } = (await response.json()) as { events: unknown[] }
    await admin('DELETE', '/route-groups/shaky')
    expect(events).toContainEqual(expect.objectContaining({ source_model: 'broken' }))
  })

  it('every change is told to the audit, with what it was before', async () => {
    const { body } = await admin('POST', '/callable-target-bindings', {
      scope_type: 'organization',
      scope_id: 'acme',
      callable_key: 'big',
    })
    const path = `/callable-target-bindings/${body.binding_id}`
    await admin('PATCH', path, { enabled: false })
    await admin('DELETE', path)
    await access('/keys/k-red', { models: ['big'] })
    await access('/keys/k-red', { mode: 'restrict', access_groups: ['paid'] })
    await admin('PUT', '/callable-target-policies', { scope_type: 'api_key', scope_id: 'k-red', mode: 'inherit' })
    const told = await vi.waitFor(async () => {
      const events = (await admin('GET', '/audit/events?limit=6')).body.data
      expect(events[0].action).toBe('callable_target_policy.update')
      return events
    }, 15_000)
    expect(told).toMatchObject([
      { resource_id: 'k-red', organization_id: 'acme', changes: { mode: { old: 'restrict', new: 'inherit' } } },
      {
        action: 'key_model_access.update',
        resource_id: 'k-red',
        changes: { mode: { old: null, new: 'restrict' }, models: { old: ['big'], new: [] } },
      },
      { action: 'key_model_access.update', changes: { models: { old: [], new: ['big'] } } },
      { action: 'callable_target_binding.delete', resource_id: body.binding_id, organization_id: 'acme' },
      { action: 'callable_target_binding.update', changes: { enabled: { old: true, new: false } } },
      {
        action: 'callable_target_binding.create',
        changes: { scope_id: { old: null, new: 'acme' }, callable_key: { old: null, new: 'big' } },
      },
    ])
  })

  it('bindings are listed by scope and by what they open, in pages', async () => {
    await access('/teams/red', { models: ['big', 'small'], access_groups: ['paid'] })
    await access('/keys/k-red', { models: ['big'] })
    const list = async (query: string) => (await admin('GET', `/callable-target-bindings?${query}`)).body
    expect((await list('scope_type=team&scope_id=red')).data).toHaveLength(3)
    expect((await list('callable_key=big')).data).toHaveLength(2)
    expect((await list('callable_kind=access_group')).data).toMatchObject([{ callable_key: 'paid' }])
    expect((await list('scope_id=nobody')).data).toEqual([])
    const first = await list('limit=3')
    const rest = await list(`limit=3&cursor=${first.next_cursor}`)
    const ids = [...first.data, ...rest.data].map(({ binding_id }) => binding_id)
    expect([new Set(ids).size, rest.next_cursor]).toEqual([4, null])
  })

  it('what can be bound is listed: models, route groups, labels, servers of tools', async () => {
    const { body } = await admin('GET', '/callable-targets')
    const target = (callable_key: string, ...access_groups: string[]) => ({
      callable_kind: 'target',
      callable_key,
      access_groups,
    })
    const label = (callable_key: string, ...targets: string[]) => ({
      callable_kind: 'access_group',
      callable_key,
      targets,
    })
    expect(body.data).toEqual([
      target('big', 'paid'),
      target('broken'),
      target('fast', 'free', 'paid'),
      target('pool'),
      target('small'),
      label('free', 'fast'),
      label('paid', 'big', 'fast'),
      { callable_kind: 'mcp_server', callable_key: 'files' },
      { callable_kind: 'mcp_server', callable_key: 'web' },
    ])
  })

  it('what is listed to somebody is only what their organizations may call', async () => {
    await admin('POST', '/teams', { team_id: 'free-standing' })
    await access('/organizations/acme', { models: ['small'], access_groups: ['free'] })
    const server = { callable_kind: 'mcp_server', callable_key: 'web' }
    const ofAcme = { scope_type: 'organization', scope_id: 'acme', ...server }
    const { binding_id } = (await admin('POST', '/callable-target-bindings', ofAcme)).body
    // What the team itself is narrowed to is no ceiling of those who may widen it.
    await access('/teams/red', { models: ['small'] })
    const seen = async (person: Person) => {
      const { body } = await (await signedIn(one, person)).ask('GET', '/ui/api/callable-targets')
      return body.data.map((one: { callable_key: string; targets?: string[] }) =>
        one.targets ? `${one.callable_key}: ${one.targets}` : one.callable_key,
      )
    }
    const within = ['fast', 'small', 'free: fast', 'paid: fast', 'web']
    expect(await seen({ teams: { red: 'team_admin' } })).toEqual(within)
    expect(await seen({ organizations: { acme: 'org_admin' } })).toEqual(within)
    const all = ['big', 'broken', 'fast', 'pool', 'small', 'free: fast', 'paid: big,fast', 'files', 'web']
    // Who only reads in one place binds nothing there.
    const readsAcme = { organizations: { acme: 'org_member' }, teams: { 'free-standing': 'team_admin' } }
    expect(await seen(readsAcme)).toEqual(all)
    expect(await seen({ role: 'platform_admin' })).toEqual(all)
    await admin('DELETE', `/callable-target-bindings/${binding_id}`)
    await admin('DELETE', '/teams/free-standing')
  })

  it('a server of tools is bound by its key, and restricts no model; replacing models leaves it bound', async () => {
    const scope = { scope_type: 'team', scope_id: 'red', callable_kind: 'mcp_server' }
    const bind = (callable_key: string) => admin('POST', '/callable-target-bindings', { ...scope, callable_key })
    for (const unknown of ['big', 'nobody', '__proto__', 'constructor']) {
      const answer = await bind(unknown)
      expect(answer).toMatchObject({ status: 400, body: { error: { param: 'callable_key' } } })
      expect(answer.body.error.message).toContain('/ui/api/mcp-servers')
    }
    const made = await bind('web')
    expect(made).toMatchObject({ status: 201, body: { ...scope, callable_key: 'web', enabled: true } })
    expect((await bind('web')).status).toBe(409)
    expect(await callable('k-red', other)).toEqual(ALL)
    const path = `/callable-target-bindings/${made.body.binding_id}`
    expect((await admin('PATCH', path, { callable_key: 'nobody' })).status).toBe(400)
    expect((await admin('PATCH', path, { enabled: false, callable_key: 'files' })).status).toBe(200)
    expect((await access('/teams/red', { models: ['big'] })).body).toMatchObject({ mode: null, models: ['big'] })
    expect((await admin('GET', path)).body).toMatchObject({ callable_key: 'files', enabled: false })
    expect((await admin('GET', '/teams/red/model-access')).body.mode).toBeNull()
    await access('/teams/red', {})
    expect(await callable()).toEqual(ALL)
    expect((await admin('DELETE', path)).status).toBe(200)
  })

  it('PUT model-access leaves nothing else bound, and what stays keeps its id', async () => {
    await access('/keys/k-red', { models: ['big', 'small'] })
    const bound = async () => (await admin('GET', '/callable-target-bindings?scope_id=k-red')).body.data
    const before = await bound()
    const small = before.find(({ callable_key }: { callable_key: string }) => callable_key === 'small')
    await admin('PATCH', `/callable-target-bindings/${small.binding_id}`, { enabled: false })
    await access('/keys/k-red', { models: ['small', 'small', 'later'], access_groups: ['small'] })
    const after = await bound()
    expect(after).toHaveLength(3)
    expect(after).toContainEqual({ ...small, updated_at: expect.any(String) })
    expect((await admin('GET', '/keys/k-red/model-access')).body).toEqual({
      mode: null,
      models: ['later', 'small'],
      access_groups: ['small'],
      effective: ['small'],
      version: expect.any(Number),
    })
  })

  it('one of many who bind the same at once is told that it did', async () => {
    const body = { scope_type: 'user', scope_id: 'ann', callable_key: 'big' }
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, turn) =>
        admin('POST', '/callable-target-bindings', body, turn % 2 === 0 ? one : other),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)])
    const label = await admin('POST', '/callable-target-bindings', { ...body, callable_kind: 'access_group' })
    expect(label.status).toBe(201)
    const path = `/callable-target-bindings/${label.body.binding_id}`
    expect((await admin('PATCH', path, { callable_kind: 'target' })).status).toBe(409)
  })

  it.each<[string, string, unknown, number, string]>([
    ['POST', '/callable-target-bindings', {}, 400, 'scope_type'],
    [
      'POST',
      '/callable-target-bindings',
      { scope_type: 'world', scope_id: 'x', callable_key: 'big' },
      400,
      'scope_type',
    ],
    ['POST', '/callable-target-bindings', { scope_type: 'team', scope_id: '', callable_key: 'big' }, 400, 'scope_id'],
    ['POST', '/callable-target-bindings', { scope_type: 'team', scope_id: 'a\0', callable_key: 'b' }, 400, 'scope_id'],
    ['POST', '/callable-target-bindings', { scope_type: 'team', scope_id: 'red' }, 400, 'callable_key'],
    [
      'POST',
      '/callable-target-bindings',
      { scope_type: 'team', scope_id: 'red', callable_key: '\ud800' },
      400,
      'callable_key',
    ],
    [
      'POST',
      '/callable-target-bindings',
      { scope_type: 'team', scope_id: 'red', callable_key: 'x'.repeat(257) },
      400,
      'callable_key',
    ],
    [
      'POST',
      '/callable-target-bindings',
      { scope_type: 'team', scope_id: 'red', callable_key: 'a', spend: 1 },
      400,
      'spend',
    ],
    [
      'POST',
      '/callable-target-bindings',
      { scope_type: 'team', scope_id: 'nobody', callable_key: 'big' },
      404,
      'scope_id',
    ],
    [
      'POST',
      '/callable-target-bindings',
      { scope_type: 'user', scope_id: 'red', callable_key: 'big' },
      404,
      'scope_id',
    ],
    ['GET', '/callable-target-bindings?scope_type=world', undefined, 400, 'scope_type'],
    ['GET', '/callable-target-bindings?limit=0', undefined, 400, 'limit'],
    ['GET', '/callable-target-bindings?cursor=%00', undefined, 400, 'cursor'],
    ['GET', '/callable-target-bindings/%00', undefined, 404, 'binding_id'],
    ['PATCH', "/callable-target-bindings/'%20OR%201=1", { enabled: false }, 404, 'binding_id'],
    ['DELETE', '/callable-target-bindings/nobody', undefined, 404, 'binding_id'],
    ['PUT', '/callable-target-policies', { scope_type: 'team', scope_id: 'red' }, 400, 'mode'],
    ['PUT', '/callable-target-policies', { scope_type: 'team', scope_id: 'red', mode: 'open' }, 400, 'mode'],
    ['PUT', '/callable-target-policies', { scope_type: 'api_key', scope_id: 'x', mode: 'inherit' }, 404, 'scope_id'],
    ['GET', '/organizations/nobody/model-access', undefined, 404, 'organization_id'],
    ['GET', '/teams/%00/model-access', undefined, 404, 'team_id'],
    ['PUT', '/users/%ED%A0%80/model-access', {}, 404, 'user_id'],
    ['PUT', '/keys/nobody/model-access', { models: ['big'] }, 404, 'key_id'],
    ['PUT', '/keys/k-red/model-access', { models: 'big' }, 400, 'models'],
    ['PUT', '/keys/k-red/model-access', { models: ['big', ''] }, 400, 'models[1]'],
    ['PUT', '/keys/k-red/model-access', { mode: 'open' }, 400, 'mode'],
    ['PUT', '/keys/k-red/model-access', { effective: ['big'] }, 400, 'effective'],
  ])('%s %s %j: %i, naming %s', async (method, path, body, status, param) => {
    expect(await admin(method, path, body)).toMatchObject({ status, body: { error: { param } } })
    expect(await listed()).toEqual(ALL)
  })

  it('a scope has at most 1,000 models at once', async () => {
    const models = Array.from({ length: 1001 }, (_, index) => `m${index}`)
    const answer = await access('/keys/k-red', { models })
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'models' } } })
    expect((await access('/keys/k-red', { models: models.slice(1) })).body.models).toHaveLength(1000)
  })

  it('a binding stays where it is', async () => {
    const scope = { scope_type: 'team', scope_id: 'red' }
    const { body } = await admin('POST', '/callable-target-bindings', { ...scope, callable_key: 'big' })
    const path = `/callable-target-bindings/${body.binding_id}`
    expect((await admin('PATCH', path, { ...scope, enabled: true })).status).toBe(200)
    for (const [field, value] of [
      ['scope_type', 'user'],
      ['scope_id', 'ann'],
      ['callable_key', 'nickname'],
      ['binding_id', 'mine'],
    ] as const) {
      const answer = await admin('PATCH', path, { [field]: value })
      expect(answer).toMatchObject({ status: 400, body: { error: { param: field } } })
    }
  })

  it('a key may neither see nor change any of it', async () => {
    const body = { scope_type: 'api_key', scope_id: 'k-red', callable_key: 'big', mode: 'inherit' }
    for (const [method, path] of [
      ['GET', '/callable-target-bindings'],
      ['POST', '/callable-target-bindings'],
      ['PATCH', '/callable-target-bindings/x'],
      ['DELETE', '/callable-target-bindings/x'],
      ['GET', '/callable-target-policies'],
      ['PUT', '/callable-target-policies'],
      ['GET', '/callable-targets'],
      ['GET', '/keys/k-red/model-access'],
      ['PUT', '/keys/k-red/model-access'],
    ] as const) {
      const sent = method === 'GET' ? undefined : body
      expect([method, path, (await admin(method, path, sent, one, as('k-red'))).status]).toEqual([method, path, 403])
    }
  })
})
