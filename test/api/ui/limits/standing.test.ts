import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { signedIn } from '../../../support/people.ts'
import { startUpstream, type Upstream } from '../../../support/scripted-upstream.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const PRICES = 'model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001 }'

describe('the standing of a key', () => {
  let upstream: Upstream
  const gateway = withFullGateway(async () => {
    upstream = await startUpstream()
    return `
model_list:
  - model_name: m
    gateway_params: { model: echo/m }
    ${PRICES}
  - model_name: slow
    gateway_params: { model: openai/slow, api_key: x, api_base: '${upstream.url}/v1' }
    ${PRICES}`
  })
  afterAll(() => upstream.close())
  const ask = adminApi(() => gateway)

  async function make(path: string, body: object = {}) {
    const made = await ask('POST', path, body)
    expect([made.status, made.body.error]).toEqual([201, undefined])
    return made.body
  }
  function call(key: string, model = 'm', signal?: AbortSignal) {
    const body = JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body, ...(signal ? { signal } : {}) }
    return fetch(`${gateway.url}/v1/chat/completions`, init)
  }
  const standing = async (key: { key_id: string }) => (await ask('GET', `/keys/${key.key_id}/standing`)).body

  beforeAll(async () => {
    await make('/organizations', {
      organization_id: 'acme',
      organization_name: 'Acme',
      max_budget: 50,
      rpd_limit: 1000,
    })
    const team = { team_id: 'red', organization_id: 'acme', rpm_limit: 4, max_budget: 10, budget_duration: '1mo' }
    await make('/teams', { ...team, team_name: 'Red', model_max_budget: { m: 2 } })
    await make('/users', { user_id: 'ci', user_email: 'ci@example.com', tpm_limit: 100_000 })
  })

  it('tells every limit of every scope, without counting', async () => {
    const key = await make('/keys', { key_name: 'k', team_id: 'red', user_id: 'ci', soft_budget: 1 })
    const before = await standing(key)
    expect(before).toMatchObject({ key_id: key.key_id, parallel: null, store: 'local' })
    expect(before.scopes.map(({ scope, id, name }: Record<string, string>) => [scope, id, name])).toEqual([
      ['organization', 'acme', 'Acme'],
      ['team', 'red', 'Red'],
      ['user', 'ci', 'ci@example.com'],
      ['key', key.key_id, 'k'],
    ])
    expect((await call(key.key)).status).toBe(200)
    const after = await standing(key)
    expect(await standing(key)).toMatchObject({ tightest: after.tightest })
    const [organization, team, user, own] = after.scopes
    expect(team.limits).toEqual([
      {
        ...{ name: 'team_rpm', unit: 'requests', window: 'minute', limit: 4, used: 1, left: 3, share: 0.25 },
        resets_at: expect.any(String),
      },
    ])
    expect(Date.parse(team.limits[0].resets_at) - Date.now()).toBeLessThanOrEqual(60_000)
    expect(organization.limits).toMatchObject([{ name: 'org_rpd', used: 1, left: 999 }])
    expect(user.limits[0]).toMatchObject({ name: 'user_tpm', unit: 'tokens', limit: 100_000 })
    expect(user.limits[0].used).toBeGreaterThan(5)
    expect(team.budgets.map(({ name, model, limit }: Record<string, unknown>) => [name, model, limit])).toEqual([
      ['team_budget', null, 10],
      ['team_model_budget', 'm', 2],
    ])
    const [whole, ofModel] = team.budgets
    expect(whole.spent).toBeGreaterThan(0)
    expect(whole.left).toBeCloseTo(10 - whole.spent, 9)
    expect(whole.share).toBeCloseTo(whole.spent / 10, 9)
    expect(ofModel.spent).toBeCloseTo(whole.spent, 9)
    expect(whole).toMatchObject({ held: 0, hidden: false, soft_limit: null })
    expect(Date.parse(whole.resets_at)).toBeGreaterThan(Date.now() + 27 * 86_400_000)
    expect(own).toMatchObject({
      limits: [],
      budgets: [{ name: 'key_budget', limit: null, soft_limit: 1, share: null }],
    })
    expect(own.budgets[0].spent).toBeCloseTo(whole.spent, 9)
    expect(after.tightest).toEqual({ name: 'team_rpm', share: 0.25 })
  })

  it('tells what calls hold that run, and that it is free again', async () => {
    const key = await make('/keys', { max_parallel_requests: 2, max_budget: 1 })
    upstream.script('slow', [{ say: { kind: 'nothing', ending: 'hang' }, changes: [] }])
    const leaving = new AbortController()
    const running = call(key.key, 'slow', leaving.signal).catch(() => undefined)
    await upstream.until('slow', (calls) => calls.length > 0)
    const held = await standing(key)
    expect(held.parallel).toEqual({ name: 'key_parallel_requests', limit: 2, used: 1, left: 1, share: 0.5 })
    const [budget] = held.scopes.at(-1).budgets
    expect(budget.held).toBeGreaterThan(0.009)
    expect(budget.left).toBeCloseTo(1 - budget.held, 9)
    expect(budget.share).toBeCloseTo(budget.held, 6)
    expect(held.tightest.name).toBe('key_parallel_requests')
    leaving.abort()
    await running
    for (;;) {
      const { parallel, scopes } = await standing(key)
      if (parallel.used === 0 && scopes.at(-1).budgets[0].held === 0) break
    }
  })

  it('says that nothing limits a key, and what is used up or blocked', async () => {
    const free = await standing(await make('/keys'))
    expect(free).toMatchObject({ tightest: null, scopes: [{ limits: [], budgets: [{ limit: null, left: null }] }] })
    const blocked = await make('/keys', { rpm_limit: 0, max_budget: 0 })
    const told = await standing(blocked)
    expect(told.tightest).toEqual({ name: 'key_rpm', share: 1 })
    expect(told.scopes[0].budgets[0]).toMatchObject({ limit: 0, left: 0, share: 1 })
    const { body } = await ask('POST', `/keys/${blocked.key_id}/revoke`)
    expect((await standing(body)).key_id).toBe(blocked.key_id)
  })

  it('hides the amounts of scopes that the caller may not see, and says how full they are', async () => {
    const ann = await signedIn(gateway, { teams: { red: 'team_developer' } })
    await ask('PATCH', '/teams/red', { self_service_keys_enabled: true })
    const made = await ann.ask('POST', '/ui/api/keys', { team_id: 'red' })
    expect(made.status).toBe(201)
    await call(made.body.key)
    const { status, body } = await ann.ask('GET', `/ui/api/keys/${made.body.key_id}/standing`)
    expect(status).toBe(200)
    const [organization, team, user, own] = body.scopes
    expect(organization.budgets).toMatchObject([{ limit: null, spent: null, left: null, held: null, hidden: true }])
    expect(organization.budgets[0].share).toBeGreaterThan(0)
    for (const scope of [team, user, own]) expect(scope.budgets[0].hidden).toBe(false)
    const ben = await signedIn(gateway, { teams: { red: 'team_viewer' } })
    expect((await ben.ask('GET', `/ui/api/keys/${made.body.key_id}/standing`)).status).toBe(404)
  })

  it('lists the budgets of which much is used, within reach, the fullest first', async () => {
    const spend = async (path: string, id: string, max_budget: number | null) => {
      expect((await ask('PATCH', `/${path}/${id}`, { max_budget })).status).toBe(200)
    }
    await make('/teams', { team_id: 'blue', max_budget: 10 })
    const key = await make('/keys', { key_name: 'full', team_id: 'blue' })
    await call(key.key)
    const spentBy = async () => (await ask('GET', `/keys/${key.key_id}`)).body.spend
    while ((await spentBy()) === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    const spent = await spentBy()
    await spend('keys', key.key_id, spent)
    await spend('teams', 'blue', spent / 0.9)
    await make('/keys', { key_name: 'blocked on purpose', max_budget: 0 })
    const { data } = (await ask('GET', '/budgets?above=0.85')).body
    expect(data).toMatchObject([
      { scope: 'key', id: key.key_id, name: 'full', team_id: 'blue', spend: spent, max_budget: spent, share: 1 },
      { scope: 'team', id: 'blue', organization_id: null, resets_at: null },
    ])
    expect(data[1].share).toBeCloseTo(0.9, 6)
    const first = (await ask('GET', '/budgets?above=0.85&limit=1')).body
    expect(first.data).toEqual(data.slice(0, 1))
    const next = (await ask('GET', `/budgets?above=0.85&cursor=${encodeURIComponent(first.next_cursor)}`)).body
    expect(next).toEqual({ data: data.slice(1), next_cursor: null })
    expect((await ask('GET', '/budgets?cursor=x')).body.error.param).toBe('cursor')
    await make('/users', { user_id: 'eve', max_budget: 1 })
    await ask('POST', '/teams/blue/members', { user_id: 'eve', role: 'team_viewer' })
    const within = async (where: string) => {
      const { body } = await ask('GET', `/budgets?above=0&${where}`)
      return body.data.map(({ id }: { id: string }) => id)
    }
    expect(await within('team_id=blue')).toEqual([key.key_id, 'blue', 'eve'])
    const ofAcme = await within('organization_id=acme')
    expect(ofAcme).toEqual(expect.arrayContaining(['acme', 'red']))
    for (const id of [key.key_id, 'blue', 'eve']) expect(ofAcme).not.toContain(id)
    expect(await within('organization_id=acme&team_id=blue')).toEqual([])
    const cat = await signedIn(gateway, { teams: { red: 'team_admin' } })
    expect((await cat.ask('GET', '/ui/api/budgets?above=0.85')).body.data).toEqual([])
    const dan = await signedIn(gateway, { teams: { blue: 'team_viewer' } })
    expect((await dan.ask('GET', '/ui/api/budgets')).body.data).toMatchObject([{ scope: 'team', id: 'blue' }])
    await ask('POST', `/keys/${key.key_id}/revoke`)
    expect((await ask('GET', '/budgets?above=0.85')).body.data).toMatchObject([{ scope: 'team' }])
  })
})
