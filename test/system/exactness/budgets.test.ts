import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GatewayProcess } from '../../runtimes/node/gateway-process.ts'
import { deployment } from '../../support/configuration.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { answer, cutAfter, json, silence, slowBetween } from '../../support/upstream/index.ts'
import { as, LEVELS, type Level, PATHS, type Pair, pairExists, spread, startPair, statusOf } from './pair.ts'

const messages = [{ role: 'user', content: 'Hello' }]
/** Of `cheap` an output token costs a tenth of a cent: ten of them are a call of 0.01. */
const TEN_TOKENS = { usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 } }
const CENT = 10_000_000

describe.skipIf(!pairExists())('budgets over two processes', () => {
  let pair: Pair
  let upstream: Upstream

  beforeAll(async () => {
    upstream = await startUpstream()
    const free = { input_cost_per_token: 0 }
    pair = await startPair({
      router_settings: { cooldown_time: 0, num_retries: 0 },
      gateway_settings: { fallbacks: [{ cheap: ['dear'] }] },
      model_list: [
        deployment(upstream.url, 'cheap', 'budget-cheap', { ...free, output_cost_per_token: 0.001 }),
        deployment(upstream.url, 'other', 'budget-other', { ...free, output_cost_per_token: 0.001 }),
        deployment(upstream.url, 'dear', 'budget-dear', {
          ...free,
          output_cost_per_token: 0.1,
          supports_assistant_prefix: true,
        }),
        deployment(upstream.url, 'verbose', 'budget-verbose', { ...free, output_cost_per_token: 0.001 }),
      ],
    })
  })
  beforeEach(() => {
    for (const model of ['cheap', 'other', 'dear', 'verbose']) upstream.script(`budget-${model}`, [answer(TEN_TOKENS)])
  })
  afterEach(() => pair.expectShared())
  afterAll(async () => {
    await pair?.close()
    await upstream?.close()
  })

  const ask = (gateway: GatewayProcess, key: string, body: object = {}, init: RequestInit = {}) =>
    gateway.chat({ model: 'cheap', messages, max_tokens: 10, ...body }, { ...init, headers: as(key) })
  const served = (model = 'cheap') => upstream.calls(`budget-${model}`).length

  /** What the database says of a budget, as soon as everything has been written. */
  async function spentOf(subject: string): Promise<number> {
    const { rows } = await pair.sql.query(
      'SELECT sum(spent_nano)::text AS spent FROM gateway_budget WHERE subject = $1',
      [subject],
    )
    return Number(rows[0].spent ?? 0)
  }
  /** What the shared store says of it. */
  async function storedOf(subject: string): Promise<{ spent: number; held: number }> {
    const fields = (await pair.raw.command('HMGET', `gateway:budget:${subject}`, 'spent', 'held')) as (string | null)[]
    const [spent = 0, held = 0] = fields.map((field) => (field === null ? 0 : Number(atob(field))))
    return { spent, held }
  }

  const kinds = [
    ...LEVELS.map((level) => ({ level, suffix: '', fields: { max_budget: 1 }, scope: `${level}_budget` })),
    ...(['team', 'key'] as const).map((level) => ({
      level,
      suffix: '|cheap',
      fields: { model_max_budget: { cheap: 1 } },
      scope: `${level}_model_budget`,
    })),
  ]

  it.each(LEVELS)('what has no price is refused where a budget of the %s pays, and nowhere else', async (level) => {
    const { key } = await pair.family({ [level]: { max_budget: 1 } })
    const before = served()
    const answers = await spread(pair, 2, (gateway) => ask(gateway, key, { service_tier: 'priority' }))
    for (const response of answers) {
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: { param: 'service_tier', code: 'unpriced_parameter' } })
    }
    expect(served()).toBe(before)
    const free = await pair.family({})
    expect((await ask(pair.gateways[0], free.key, { service_tier: 'priority' })).status).toBe(200)
    expect((await ask(pair.gateways[1], key, { service_tier: 'auto' })).status).toBe(200)
  })

  it.each(kinds)('of 500 calls of 0.01 at once $scope of 1.00 lets exactly 100 through', async (kind) => {
    const { level, suffix, fields, scope } = kind
    const { key, ids } = await pair.family({ [level]: fields })
    const subject = `${level}:${ids[level]}${suffix}`
    const before = served()
    const calls = kind === kinds[0] ? 500 : 130
    const answers = await spread(pair, calls, async (gateway) => {
      const response = await ask(gateway, key)
      return { status: response.status, body: await response.json() }
    })
    const refused = answers.filter(({ status }) => status === 429)
    expect([answers.length - refused.length, served() - before]).toEqual([100, 100])
    for (const { body } of refused) {
      expect(body).toEqual({
        error: {
          message: `Budget exceeded for scope '${scope}'`,
          type: 'budget_exceeded',
          param: scope,
          code: 'budget_exceeded',
        },
      })
    }
    await expect.poll(() => storedOf(subject)).toEqual({ spent: 100 * CENT, held: 0 })
    await expect.poll(() => spentOf(subject)).toBe(100 * CENT)
    expect(await statusOf(ask(pair.gateways[1], key))).toBe(429)
  })

  it('what a budget has room for is held in full, however the calls come: of 200 calls of 0.10 at 5.00 exactly 50', async () => {
    const { key } = await pair.family({ team: { max_budget: 5 } })
    upstream.script('budget-cheap', [
      answer({ usage: { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 } }),
    ])
    const answers = await spread(pair, 200, (gateway) => statusOf(ask(gateway, key, { max_tokens: 100 })))
    expect(answers.filter((status) => status === 200)).toHaveLength(50)
  })

  it('whatever a deployment was asked before, 200 calls of 0.10 without a limit spend at most 1.00', async () => {
    const taught = await pair.family()
    for (const gateway of pair.gateways) await statusOf(ask(gateway, taught.key, { max_tokens: 1 }))
    const { key, ids } = await pair.family({ key: { max_budget: 1 } })
    upstream.script('budget-cheap', [
      answer({ usage: { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 } }),
    ])
    for (const max_tokens of [undefined, 8000]) {
      const answers = await spread(pair, 200, (gateway) => statusOf(ask(gateway, key, { max_tokens })))
      expect(new Set(answers).difference(new Set([200, 429]))).toEqual(new Set())
    }
    await expect.poll(() => storedOf(`key:${ids.key}`).then(({ held }) => held)).toBe(0)
    expect((await storedOf(`key:${ids.key}`)).spent).toBeLessThanOrEqual(100 * CENT)
  })

  it("a model's budget is not that of another model", async () => {
    const { key } = await pair.family({ key: { model_max_budget: { cheap: 0.015 } } })
    const statuses = []
    for (const model of ['cheap', 'cheap', 'cheap', 'other', 'other', 'other']) {
      statuses.push(await statusOf(ask(pair.gateways[statuses.length % 2] as GatewayProcess, key, { model })))
    }
    expect(statuses).toEqual([200, 429, 429, 200, 200, 200])
  })

  it.each(kinds)('null is no $scope, and 0 blocks: the upstream is not asked', async ({ level, fields, scope }) => {
    const perModel = 'model_max_budget' in fields
    const free = await pair.family(perModel ? {} : { [level]: { max_budget: null } })
    expect(await statusOf(ask(pair.gateways[0], free.key))).toBe(200)
    const before = served()
    const blocked = await pair.family({ [level]: perModel ? { model_max_budget: { cheap: 0 } } : { max_budget: 0 } })
    const refused = await ask(pair.gateways[1], blocked.key)
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([429, 'false'])
    expect(await refused.json()).toMatchObject({ error: { type: 'budget_exceeded', param: scope } })
    expect(served()).toBe(before)
  })

  it('a refused call counts against no limit and takes no slot', async () => {
    const { key, ids } = await pair.family({
      org: { rpm_limit: 10 },
      key: { max_budget: 0, max_parallel_requests: 1, tpd_limit: 10_000 },
    })
    const before = await pair.raw.dump(`gateway:*${ids.org}`)
    for (const gateway of pair.gateways) {
      const refused = await ask(gateway, key)
      expect(refused.status).toBe(429)
      expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('10')
    }
    expect(await pair.raw.dump(`gateway:*${ids.org}`)).toEqual(before)
    expect(Object.keys(await pair.raw.dump(`gateway:*${ids.key}`))).toEqual([`gateway:version:key:${ids.key}`])
  })

  it('twenty calls with a huge max_tokens that are cancelled leave the budget usable at once', async () => {
    const { key, ids } = await pair.family({ key: { max_budget: 1 } })
    upstream.script('budget-verbose', [silence()])
    const leaving = new AbortController()
    let refused = 0
    const asking = spread(pair, 20, async (gateway) => {
      const body = { model: 'verbose', max_tokens: 1_000_000 }
      const response = await ask(gateway, key, body, { signal: leaving.signal }).catch(() => undefined)
      if (response?.status === 429) refused += 1
    })
    // One of them is alone.
    await expect.poll(() => refused, { timeout: 10_000 }).toBe(19)
    leaving.abort()
    await asking
    await expect.poll(() => storedOf(`key:${ids.key}`).then(({ held }) => held)).toBe(0)
    upstream.script('budget-verbose', [answer(TEN_TOKENS)])
    for (let call = 0; call < 10; call++) {
      const gateway = pair.gateways[call % 2] as GatewayProcess
      expect(await statusOf(ask(gateway, key, { model: 'verbose', max_tokens: 1_000_000 })), `call ${call}`).toBe(200)
    }
  })

  it.each([false, true])(
    'who calls again as soon as an answer has ended finds what it held given back (stream: %s)',
    async (stream) => {
      // One hold fills the budget nearly: a second one does not fit beside it.
      const { key } = await pair.family({ team: { max_budget: 0.5 } })
      for (let call = 0; call < 20; call++) {
        const response = await ask(pair.gateways[call % 2] as GatewayProcess, key, { stream, max_tokens: 300 })
        expect(response.status, `call ${call}`).toBe(200)
        await response.text()
      }
    },
  )

  it('the database seeds a store that has forgotten everything', async () => {
    const { key, ids } = await pair.family({ org: { max_budget: 1 }, key: { model_max_budget: { cheap: 0.5 } } })
    const first = await spread(pair, 30, (gateway) => statusOf(ask(gateway, key)))
    expect(new Set(first)).toEqual(new Set([200]))
    await expect.poll(() => spentOf(`org:${ids.org}`)).toBe(30 * CENT)
    await pair.raw.command('FLUSHALL')
    const more = await spread(pair, 100, (gateway) => statusOf(ask(gateway, key)))
    expect(more.filter((status) => status === 200)).toHaveLength(20)
    await expect.poll(() => storedOf(`org:${ids.org}`)).toEqual({ spent: 50 * CENT, held: 0 })
  })

  it('a fallback to a dearer model is checked again, and not asked when there is no room for it', async () => {
    upstream.script('budget-cheap', [json(500, { error: { message: 'no' } })])
    const poor = await pair.family({ user: { max_budget: 0.5 } })
    const before = served('dear')
    const refused = await ask(pair.gateways[0], poor.key)
    expect(await refused.json()).toMatchObject({ error: { code: 'upstream_failed' } })
    expect(served('dear')).toBe(before)
    await expect.poll(() => storedOf(`user:${poor.ids.user}`)).toEqual({ spent: 0, held: 0 })

    const rich = await pair.family({ user: { max_budget: 1.5 } })
    expect(await statusOf(ask(pair.gateways[1], rich.key))).toBe(200)
    await expect.poll(() => storedOf(`user:${rich.ids.user}`)).toEqual({ spent: 100 * CENT, held: 0 })
    expect(await statusOf(ask(pair.gateways[0], rich.key))).toBe(502)
  })

  it('what was spent while a budget was away counts against it when it is back', async () => {
    const { key, ids } = await pair.family({ user: { max_budget: 0.05 } })
    const budget = (max_budget: number | null) => pair.admin('PATCH', `users/${ids.user}`, { max_budget })
    expect(await statusOf(ask(pair.gateways[0], key))).toBe(200)
    await budget(null)
    for (let call = 0; call < 5; call++)
      expect(await statusOf(ask(pair.gateways[call % 2] as GatewayProcess, key))).toBe(200)
    await expect.poll(() => spentOf(`user:${ids.user}`)).toBe(6 * CENT)
    await budget(0.05)
    expect(await statusOf(ask(pair.gateways[1], key))).toBe(429)
  })

  it('the budget of the fallback model is asked, too', async () => {
    upstream.script('budget-cheap', [json(500, { error: { message: 'no' } })])
    const { key } = await pair.family({ team: { model_max_budget: { dear: 0.5 } } })
    const before = served('dear')
    const refused = await ask(pair.gateways[0], key)
    expect(await refused.json()).toMatchObject({ error: { code: 'upstream_failed' } })
    expect(served('dear')).toBe(before)
  })

  it('the budget of a model that would go on with a cut answer is asked, too', async () => {
    upstream.script('budget-cheap', [answer({ text: 'one two three' }, cutAfter({ frames: 3 }))])
    const cut = async (budget: number) => {
      const { key } = await pair.family({ team: { model_max_budget: { dear: budget } } })
      const before = served('dear')
      const text = await (await ask(pair.gateways[0], key, { stream: true })).text()
      return [served('dear') - before, text.includes('upstream_truncated')]
    }
    expect(await cut(0.5)).toEqual([0, true])
    expect(await cut(50)).toEqual([1, false])
  })

  it.each(LEVELS)('a soft budget of the %s refuses nobody and is told of once, by whichever process', async (level) => {
    const { key, ids } = await pair.family({ [level]: { soft_budget: 0.05 } })
    const subject = `${level}:${ids[level]}`
    const told = () =>
      pair.gateways.flatMap((gateway) =>
        gateway.logged('budget.soft_exceeded').filter((line) => line.subject === subject),
      )
    for (let call = 0; call < 4; call++) await statusOf(ask(pair.gateways[call % 2] as GatewayProcess, key))
    await expect.poll(() => storedOf(subject)).toEqual({ spent: 4 * CENT, held: 0 })
    expect(told()).toEqual([])
    // The call that reaches it may be the last one for long.
    await statusOf(ask(pair.gateways[0], key))
    await expect.poll(() => told().length).toBe(1)
    const answers = await spread(pair, 20, (gateway) => statusOf(ask(gateway, key)))
    expect(new Set(answers)).toEqual(new Set([200]))
    await wait(100)
    expect(told()).toMatchObject([{ scope: `${level}_budget`, softNano: 5 * CENT, spentNano: 5 * CENT }])
  })

  it.each([
    ['org', { max_budget: 0.05 }, 'org_budget', '', ''],
    ['key', { max_budget: 0.05, budget_duration: '30d' }, 'key_budget', '@30d', ''],
    ['team', { model_max_budget: { cheap: 0.05 } }, 'team_model_budget', '|cheap', 'cheap'],
  ] as const)(
    'a budget of the %s that refuses is told of once, by whichever process: %o',
    async (level, fields, scope, suffix, model) => {
      const { key, ids } = await pair.family({ [level]: fields })
      const subject = `${level}:${ids[level]}${suffix}`
      const told = () =>
        pair.gateways.flatMap((gateway) => gateway.logged('budget.exceeded').filter((line) => line.subject === subject))
      for (let call = 0; call < 5; call++) {
        expect(await statusOf(ask(pair.gateways[call % 2] as GatewayProcess, key))).toBe(200)
      }
      await expect.poll(() => storedOf(subject)).toEqual({ spent: 5 * CENT, held: 0 })
      expect(told()).toEqual([])
      const answers = await spread(pair, 20, (gateway) => statusOf(ask(gateway, key)))
      expect(new Set(answers)).toEqual(new Set([429]))
      await expect.poll(() => told().length).toBe(1)
      await wait(100)
      const facts = { scope, level, id: ids[level], model, limitNano: 5 * CENT, spentNano: 5 * CENT }
      expect(told()).toMatchObject([facts])
      if (level !== 'key') return
      // Who was given more and has spent that, too, is told of again.
      await pair.admin('PATCH', `keys/${ids.key}`, { max_budget: 0.06 })
      expect(await statusOf(ask(pair.gateways[0], key))).toBe(200)
      await expect.poll(() => storedOf(subject)).toEqual({ spent: 6 * CENT, held: 0 })
      await spread(pair, 6, (gateway) => statusOf(ask(gateway, key)))
      await expect.poll(() => told().length).toBe(2)
      expect(
        told()
          .map(({ limitNano }) => limitNano)
          .sort(),
      ).toEqual([5 * CENT, 6 * CENT])
    },
  )

  it('a budget that only other calls hold is not told of as exceeded', async () => {
    upstream.script('budget-cheap', [answer({ ...TEN_TOKENS, text: 'one two three' }, slowBetween({ ms: 200 }))])
    const { key, ids } = await pair.family({ user: { max_budget: 0.015 } })
    const answers = await spread(pair, 6, (gateway) => statusOf(ask(gateway, key, { stream: true })))
    expect(answers.filter((status) => status === 200)).toHaveLength(1)
    await expect.poll(() => storedOf(`user:${ids.user}`)).toMatchObject({ held: 0 })
    const told = pair.gateways.flatMap((gateway) => gateway.logged('budget.exceeded'))
    expect(told.filter(({ id }) => id === ids.user)).toEqual([])
  })

  it('the budgets of all levels begin anew with each of their periods, without anybody doing anything', async () => {
    async function life(level: Level): Promise<void> {
      const { key, ids } = await pair.family({ [level]: { max_budget: 0.02, budget_duration: '3s' } })
      const record = await pair.admin('GET', `${PATHS[level]}/${ids[level]}`)
      const startedAt = Date.parse(String(record.budget_started_at ?? record.created_at))
      for (let period = 0; period < 2; period++) {
        // The beginning of the next one.
        await wait(3000 - ((Date.now() - startedAt) % 3000) + 20)
        const statuses = []
        for (let call = 0; call < 3; call++) {
          statuses.push(await statusOf(ask(pair.gateways[(call + period) % 2] as GatewayProcess, key)))
        }
        expect(statuses, `${level}, period ${period}`).toEqual([200, 200, 429])
      }
      await expect.poll(() => spentOf(`${level}:${ids[level]}@3s`)).toBe(4 * CENT)
    }
    await Promise.all(LEVELS.map(life))
  })
})
