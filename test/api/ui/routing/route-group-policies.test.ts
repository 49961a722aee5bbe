import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { configOf } from '../../../support/gateway.ts'
import { signedIn } from '../../../support/people.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { serverError, silence } from '../../../support/upstream/index.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const upstream = upstreamClient(inject('upstreamUrl'))

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

describe.skipIf(!postgresUrl || !redisUrl)('policies of route groups', () => {
  let one: FullGateway
  let other: FullGateway

  beforeAll(async () => {
    const settings = [
      `general_settings: { database_url: '${await preparedDatabase(postgresUrl)}', redis_url: '${redisUrl}' }`,
      'router_settings: { cooldown_time: 0, hedge_after_ms: 9000, model_group_alias: { nickname: policy-file } }',
      'gateway_settings:',
      '  context_window_fallbacks: [{ flaky: [nickname, slow] }]',
      '  content_policy_fallbacks: [{ slow: [gone] }]',
    ].join('\n')
    const groups = { 'policy-file': ['policy-a', 'policy-b'], flaky: ['policy-flaky'], slow: ['policy-slow'] }
    const yaml = configOf(upstream.url, groups, settings)
    ;[one, other] = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
  })
  afterAll(async () => {
    await Promise.all([one?.close(), other?.close()])
  })

  async function ask(method: string, path: string, body?: unknown, gateway = one): Promise<Answer> {
    const response = await gateway.fetch(`/ui/api/route-groups${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, body: await response.json() }
  }

  async function publish(name: string, policy: object, gateway = one): Promise<Answer> {
    expect(await ask('PUT', `/${name}/policy/draft`, policy, gateway)).toMatchObject({ status: 200 })
    const published = await ask('POST', `/${name}/policy/publish`, undefined, gateway)
    expect(published).toMatchObject({ status: 200, body: { published: { policy }, draft: null } })
    return published
  }

  async function chat(model: string, gateway = one) {
    const response = await gateway.chat({ model, messages: [{ role: 'user', content: 'Hello' }] })
    await response.text()
    return { status: response.status, attempts: Number(response.headers.get('x-gateway-attempts')) }
  }

  it('a group without one goes by router_settings', async () => {
    const effective = {
      routing_strategy: 'simple-shuffle',
      timeout: 600,
      total_timeout: 600,
      num_retries: 0,
      retry_after: 0,
      hedge_after_ms: 9000,
      hedge: null,
      prompt_ref: null,
    }
    const body = { name: 'policy-file', effective, published: null, draft: null }
    expect(await ask('GET', '/policy-file/policy')).toEqual({ status: 200, body })
  })

  it('a draft holds for nothing, what is published does, elsewhere within 5 s, also for a group of the file', async () => {
    await upstream.script('policy-flaky', [serverError()])
    expect(await chat('flaky')).toMatchObject({ status: 502, attempts: 1 })
    const policy = { num_retries: 2, retry_after: 0.01 }
    const drafted = await ask('PUT', '/flaky/policy/draft', policy)
    expect(drafted.body).toMatchObject({ effective: { num_retries: 0 }, draft: { draft_version: 1, policy } })
    expect(await chat('flaky')).toMatchObject({ attempts: 1 })
    const published = (await ask('POST', '/flaky/policy/publish')).body
    expect(published).toMatchObject({
      effective: { num_retries: 2, retry_after: 0.01, timeout: 600 },
      published: { version: 1, policy, restored_from: null },
      draft: null,
    })
    expect(await chat('flaky')).toMatchObject({ attempts: 3 })
    expect((await ask('GET', '/flaky/policy', undefined, other)).body).toEqual(published)
    const deadline = Date.now() + 15_000
    while ((await chat('flaky', other)).attempts !== 3) {
      expect(Date.now()).toBeLessThan(deadline)
      await wait(100)
    }
    expect(await chat('policy-file')).toMatchObject({ status: 200, attempts: 1 })
  })

  it.each([
    ['timeout of an attempt', { timeout: 0.3, num_retries: 1, retry_after: 0.01 }, 2],
    ['timeout of a call', { total_timeout: 0.3, num_retries: 1, retry_after: 0.01 }, 1],
  ])("decides a group's %s", async (_, policy, attempts) => {
    await upstream.script('policy-slow', [silence()])
    await publish('slow', policy)
    const startedAt = performance.now()
    expect(await chat('slow')).toMatchObject({ status: 504, attempts })
    expect(performance.now() - startedAt).toBeLessThan(15_000)
  })

  it("decides a route group's strategy", async () => {
    const members = [{ deployment_id: 'policy-a', priority: 7 }, { deployment_id: 'policy-b' }]
    await ask('POST', '', { name: 'policy-pool', members })
    const first = async () => {
      const response = await one.chat({ model: 'policy-pool', messages: [{ role: 'user', content: 'Hello' }] })
      await response.text()
      return response.headers.get('x-gateway-deployment')
    }
    const before = new Set(await Promise.all(Array.from({ length: 30 }, first)))
    expect(before.size).toBe(2)
    await publish('policy-pool', { routing_strategy: 'priority-based-routing' })
    const after = new Set(await Promise.all(Array.from({ length: 30 }, first)))
    expect([...after]).toEqual(['policy-b'])
    const drawn = await ask('POST', '/policy-pool/simulate', { calls: 20 })
    expect(drawn.body).toMatchObject({
      strategy: 'priority-based-routing',
      deployments: [
        { deployment_id: 'policy-a', chosen: 0 },
        { deployment_id: 'policy-b', chosen: 20 },
      ],
    })
  })

  it('what has a policy or a draft is listed by name, with the strategy in force', async () => {
    for (const name of ['listed', 'listed-too']) await ask('POST', '', { name, members: [{ model_name: 'slow' }] })
    await publish('listed', { routing_strategy: 'least-busy' })
    await ask('PUT', '/listed/policy/draft', { num_retries: 1 })
    await ask('PUT', '/listed-too/policy/draft', { routing_strategy: 'weighted' })
    const list = async (query: string) =>
      (await (await one.fetch(`/ui/api/route-group-policies?${query}`)).json()) as Answer['body']
    const { data } = await list('')
    expect(data.map(({ name }: { name: string }) => name)).toEqual(data.map((one: { name: string }) => one.name).sort())
    const named = (name: string) => data.find((one: { name: string }) => one.name === name)
    const published_at = expect.any(String)
    expect(named('listed')).toEqual({
      name: 'listed',
      routing_strategy: 'least-busy',
      version: 1,
      published_at,
      has_draft: true,
    })
    expect(named('listed-too')).toMatchObject({ routing_strategy: null, version: null, has_draft: true })
    const first = await list('limit=1')
    expect([...first.data, ...(await list(`cursor=${first.next_cursor}`)).data]).toEqual(data)
    for (const name of ['listed', 'listed-too']) await ask('DELETE', `/${name}`)
  })

  it('hedging is overridden, and turned off by null', async () => {
    const over = await publish('policy-file', { hedge: 'p95' })
    expect(over.body.effective).toMatchObject({ hedge: 'p95', hedge_after_ms: null })
    const off = await publish('policy-file', { hedge: null, hedge_after_ms: null })
    expect(off.body.effective).toMatchObject({ hedge: null, hedge_after_ms: null })
    const none = await publish('policy-file', {})
    expect(none.body.effective).toMatchObject({ hedge: null, hedge_after_ms: 9000 })
  })

  it('and the chains of the file can be read, with what their names stand for', async () => {
    const read = async (query = '') => (await (await one.fetch(`/ui/api/fallbacks${query}`)).json()).data
    const file = { name: 'nickname', group: 'policy-file' }
    const chains = [
      {
        kind: 'context_window_fallbacks',
        from: { name: 'flaky', group: 'flaky' },
        to: [file, { name: 'slow', group: 'slow' }],
      },
      { kind: 'content_policy_fallbacks', from: { name: 'slow', group: 'slow' }, to: [{ name: 'gone', group: null }] },
    ]
    expect(await read()).toEqual(chains)
    expect(await read('?name=policy-file')).toEqual(chains.slice(0, 1))
  })

  it('what was published once holds again after a rollback, as a new version; all are kept', async () => {
    const admin = await signedIn(one, { role: 'platform_admin' })
    await ask('PUT', '/flaky/policy/draft', { num_retries: 1, retry_after: 0.01 })
    expect((await admin.ask('POST', '/ui/api/route-groups/flaky/policy/publish')).status).toBe(200)
    expect(await chat('flaky')).toMatchObject({ attempts: 2 })
    await ask('PUT', '/flaky/policy/draft', { num_retries: 9 })
    const back = await ask('POST', '/flaky/policy/rollback', { version: 1 })
    expect(back).toMatchObject({
      status: 200,
      body: { published: { version: 3, restored_from: 1, policy: { num_retries: 2 } }, draft: { draft_version: 3 } },
    })
    expect(await chat('flaky')).toMatchObject({ attempts: 3 })
    const { data } = (await ask('GET', '/flaky/policy/versions')).body
    expect(data).toMatchObject([
      { version: 3, restored_from: 1, policy: { num_retries: 2 }, published_by: 'master_key' },
      { version: 2, restored_from: null, policy: { num_retries: 1 }, published_by: admin.accountId },
      { version: 1, restored_from: null, policy: { num_retries: 2 } },
    ])
    const page = (await ask('GET', '/flaky/policy/versions?limit=2')).body
    expect(page.next_cursor).toBe('2')
    const rest = (await ask('GET', `/flaky/policy/versions?cursor=${page.next_cursor}`)).body
    expect(rest).toEqual({ data: [data[2]], next_cursor: null })
    for (const version of [4, 2_147_483_647]) {
      const answer = await ask('POST', '/flaky/policy/rollback', { version })
      expect(answer).toMatchObject({ status: 404, body: { error: { param: 'version' } } })
    }
    expect(await ask('DELETE', '/flaky/policy/draft')).toMatchObject({ status: 200, body: { draft: null } })
    expect(await ask('DELETE', '/flaky/policy/draft')).toMatchObject({ status: 404 })
  })

  it('one of several who publish at once does, and there is one version more', async () => {
    const { published } = (await ask('GET', '/policy-file/policy')).body
    await ask('PUT', '/policy-file/policy/draft', { num_retries: 5 })
    const tries = Array.from({ length: 20 }, (_, index) =>
      ask('POST', '/policy-file/policy/publish', undefined, index % 2 ? one : other),
    )
    const answers = await Promise.all(tries)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
      expect([status, body.error.code]).toEqual([409, 'no_draft'])
    }
    expect((await ask('GET', '/policy-file/policy')).body.published.version).toBe(published.version + 1)
  })

  it('a draft that somebody else has changed is neither written over nor published, where its version is named', async () => {
    const { draft } = (await ask('PUT', '/policy-file/policy/draft', { num_retries: 1 })).body
    const path = `?draft_version=${draft.draft_version}`
    const tries = Array.from({ length: 10 }, (_, index) =>
      ask('PUT', `/policy-file/policy/draft${path}`, { num_retries: index }, index % 2 ? one : other),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(9)
    const stale = await ask('POST', `/policy-file/policy/publish${path}`)
    expect(stale).toMatchObject({ status: 409, body: { error: { code: 'version_conflict', param: 'draft_version' } } })
    const now = draft.draft_version + 1
    expect(await ask('POST', `/policy-file/policy/publish?draft_version=${now}`)).toMatchObject({ status: 200 })
    expect(await ask('PUT', '/slow/policy/draft?draft_version=99', {})).toMatchObject({ status: 409 })
  })

  it('publishing without a draft is a 409', async () => {
    for (const name of ['flaky', 'slow']) {
      const answer = await ask('POST', `/${name}/policy/publish`)
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'no_draft' } } })
    }
  })

  it('validation says what would hold and writes nothing', async () => {
    const before = (await ask('GET', '/flaky/policy')).body
    const policy = { routing_strategy: 'weighted' }
    expect(await ask('POST', '/flaky/policy/validate', policy)).toMatchObject({
      status: 200,
      body: { valid: true, policy, effective: { routing_strategy: 'weighted', num_retries: 0 } },
    })
    expect((await ask('GET', '/flaky/policy')).body).toEqual(before)
  })

  it.each([
    ['a strategy that there is none of', { routing_strategy: 'wieghted' }, 'routing_strategy'],
    ['no time', { timeout: 0 }, 'timeout'],
    ['half a retry', { num_retries: 1.5 }, 'num_retries'],
    ['too many retries', { num_retries: 101 }, 'num_retries'],
    ['a wait below nothing', { retry_after: -1 }, 'retry_after'],
    ['text for a number', { timeout: '30' }, 'timeout'],
    ['null where nothing can be none', { timeout: null }, 'timeout'],
    ['a hedge of no time', { hedge_after_ms: 0 }, 'hedge_after_ms'],
    ['a hedge that there is none of', { hedge: 'p50' }, 'hedge'],
    ['an unknown field', { retries: 3 }, 'retries'],
    ['no policy', [], 'top level'],
  ])('%s is a 400 that names it, as a draft and in validation', async (_, policy, param) => {
    for (const [method, path] of [
      ['PUT', '/slow/policy/draft'],
      ['POST', '/slow/policy/validate'],
    ] as const) {
      expect(await ask(method, path, policy)).toMatchObject({ status: 400, body: { error: { param } } })
    }
  })

  it('what is published is told to the audit, with what it changed; what only asks is not', async () => {
    const events = async () => {
      const filter = 'audit/events?resource_id=flaky&limit=200'
      return (await (await one.fetch(`/ui/api/${filter}`)).json()) as { data: Record<string, unknown>[] }
    }
    const deadline = Date.now() + 15_000
    while (!(await events()).data.some(({ action }) => action === 'route_group_policy.rollback')) {
      expect(Date.now()).toBeLessThan(deadline)
      await wait(100)
    }
    const { data } = await events()
    expect(data.find(({ metadata }) => (metadata as { version?: number }).version === 3)).toMatchObject({
      action: 'route_group_policy.rollback',
      changes: { num_retries: { old: 1, new: 2 } },
      metadata: { version: 3, restored_from: 1 },
    })
    expect(data.find(({ metadata }) => (metadata as { version?: number }).version === 1)).toMatchObject({
      action: 'route_group_policy.publish',
      changes: { num_retries: { old: null, new: 2 }, retry_after: { old: null, new: 0.01 } },
    })
    expect(data.filter(({ action }) => /validate|simulate/.test(String(action)))).toEqual([])
  })

  it('of names that no group goes by there is none', async () => {
    for (const name of ['nobody', '%00', 'nickname', 'x'.repeat(3000)]) {
      expect(await ask('GET', `/${name}/policy`)).toMatchObject({ status: 404, body: { error: { param: 'name' } } })
      expect(await ask('PUT', `/${name}/policy/draft`, {})).toMatchObject({ status: 404 })
      expect(await ask('POST', `/${name}/policy/publish`)).toMatchObject({ status: 404 })
      if (name !== 'nickname') expect(await ask('POST', `/${name}/simulate`, {})).toMatchObject({ status: 404 })
    }
  })
})
