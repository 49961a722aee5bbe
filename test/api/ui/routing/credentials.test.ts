import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const upstream = upstreamClient(inject('upstreamUrl'))

const FIRST = 'sk-named-canary-1d2f'
const SECOND = 'sk-named-canary-77ab'
const HEADER = 'named-header-canary-03'

describe.skipIf(!postgresUrl || !redisUrl)('named credentials, in two processes', () => {
  let here: FullGateway
  let elsewhere: FullGateway
  const seen: string[] = []
  const asking = adminApi(() => here)
  const ask = async (...request: Parameters<typeof asking>) => {
    const answer = await asking(...request)
    seen.push(JSON.stringify(answer.body))
    return answer
  }

  beforeAll(async () => {
    const yaml = [
      `general_settings: { database_url: '${await preparedDatabase(postgresUrl as string)}', redis_url: '${redisUrl}' }`,
      'model_list:',
      '  - model_name: of-file',
      '    gateway_params: { model: openai-compatible/named-of-file, credential: shared }',
      '  - { model_name: lost, gateway_params: { model: openai/x, credential: nobody } }',
    ].join('\n')
    ;[here, elsewhere] = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
  })
  afterAll(async () => {
    await Promise.all([here?.close(), elsewhere?.close()])
  })

  const chat = (gateway: FullGateway, model: string) =>
    gateway.chat({ model, messages: [{ role: 'user', content: 'Hello' }] })
  async function keyOf(gateway: FullGateway, model: string): Promise<string | undefined> {
    const before = (await upstream.calls(`named-${model}`)).length
    const response = await chat(gateway, model)
    seen.push(await response.text())
    const call = (await upstream.calls(`named-${model}`))[before]
    return call?.headers.authorization?.replace('Bearer ', '')
  }
  async function within5Seconds(holds: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 15_000
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error('not so within 5 seconds')
      await wait(100)
    }
  }

  const deployment = (name: string, more: object = {}) => ({
    model_name: name,
    gateway_params: { model: `openai-compatible/named-${name}`, credential: 'shared', ...more },
  })

  it('a deployment of the file is out until its credential is there, and its problem is told', async () => {
    expect((await chat(here, 'of-file')).status).toBe(404)
    const shown = await ask('GET', '/models/of-file-1')
    expect(shown.body.problem).toBe("gateway_params.credential: names 'shared', and there is no such credential")
    const check = await ask('POST', '/config/check', {
      yaml: 'model_list: [{ model_name: m, gateway_params: { model: openai/x, credential: nobody } }]',
    })
    expect(check.body.notes).toEqual([
      { path: 'model_list[0].gateway_params.credential', message: "names 'nobody', which there is not yet" },
    ])
  })

  it('is made with its secrets sealed, and every deployment that names it calls with them', async () => {
    const made = await ask('POST', '/credentials', {
      name: 'shared',
      provider: 'openai-compatible',
      gateway_params: { api_key: FIRST, api_base: `${upstream.url}/v1`, headers: { 'x-extra': HEADER } },
    })
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'shared',
        provider: 'openai-compatible',
        gateway_params: { api_key: '[secret]', headers: { 'x-extra': '[secret]' } },
        used_by: 1,
        deployments: ['of-file-1'],
        version: 1,
      },
    })
    expect(await ask('POST', '/models', deployment('one'))).toMatchObject({ status: 201, body: { problem: null } })
    expect(await ask('POST', '/models', deployment('two'))).toMatchObject({ status: 201 })
    for (const model of ['one', 'two', 'of-file']) expect(await keyOf(here, model)).toBe(FIRST)
    expect((await upstream.calls('named-one')).at(-1)?.headers['x-extra']).toBe(HEADER)
    expect((await ask('GET', '/models/of-file-1')).body.problem).toBeNull()
    expect((await ask('GET', '/credentials')).body).toMatchObject({
      data: [{ name: 'shared', used_by: 3, deployments: ['of-file-1', 'one-1', 'two-1'] }],
      next_cursor: null,
    })
    expect(
      (await ask('POST', '/credentials', { name: 'shared', provider: 'openai', gateway_params: { api_key: 'k' } })).body
        .error,
    ).toMatchObject({ code: 'conflict', param: 'name' })
  })

  it('rotated once, all deployments follow, in every process, and the rest of it stays', async () => {
    await within5Seconds(async () => (await keyOf(elsewhere, 'two')) === FIRST)
    const before = (await ask('GET', '/credentials/shared')).body
    const rotated = await ask('PATCH', '/credentials/shared', { gateway_params: { api_key: SECOND } })
    expect(rotated).toMatchObject({ status: 200, body: { version: 2, used_by: 3 } })
    expect(Date.parse(rotated.body.rotated_at)).toBeGreaterThan(Date.parse(before.rotated_at))
    for (const model of ['one', 'two', 'of-file']) expect(await keyOf(here, model)).toBe(SECOND)
    expect((await upstream.calls('named-one')).at(-1)?.headers['x-extra']).toBe(HEADER)
    await within5Seconds(async () => (await keyOf(elsewhere, 'one')) === SECOND)
    expect(await keyOf(elsewhere, 'of-file')).toBe(SECOND)

    const again = await ask('PATCH', '/credentials/shared', { gateway_params: { organization: 'o' }, version: 2 })
    expect(again.body.rotated_at).toBe(rotated.body.rotated_at)
    expect((await ask('PATCH', '/credentials/shared', { version: 2 })).body.error.code).toBe('version_conflict')
    const { body } = await ask('GET', '/audit/events?resource_type=credential&action=credential.update')
    expect(body.data.at(-1)).toMatchObject({
      resource_id: 'shared',
      changes: { rotated_at: { old: before.rotated_at, new: rotated.body.rotated_at } },
    })
  })

  it('a draft is tried with it, and lists models with it', async () => {
    const tried = await ask('POST', '/models/test', deployment('draft'))
    expect(tried.body).toMatchObject({ ok: true })
    expect((await upstream.calls('named-draft')).at(-1)?.headers.authorization).toBe(`Bearer ${SECOND}`)
    const listed = await ask('POST', '/providers/openai-compatible/models', {
      gateway_params: { credential: 'shared' },
    })
    expect(listed).toMatchObject({ status: 200, body: { address: expect.stringContaining(upstream.url) } })
  })

  it.each([
    ['one that there is not', { credential: 'nobody' }, 'gateway_params.credential', "names 'nobody'"],
    ['a secret beside it', { api_key: 'k' }, 'gateway_params.api_key', 'leave out one'],
    ['another address', { api_base: 'https://elsewhere.example' }, 'gateway_params.api_base', 'is not where'],
    ['another provider', { provider: 'vllm' }, 'gateway_params.credential', 'is for openai-compatible'],
  ])('a deployment with %s is a 400 that names the field', async (_, more, param, message) => {
    const refused = { status: 400, body: { error: { param, message: expect.stringContaining(message) } } }
    expect(await ask('POST', '/models', deployment('refused', more))).toMatchObject(refused)
    expect(await ask('PATCH', '/models/one-1', { gateway_params: more })).toMatchObject(refused)
    expect(await ask('POST', '/models/test', deployment('refused', more))).toMatchObject(refused)
  })

  it('does not leave for another address, with its secrets or under its deployments', async () => {
    expect(
      await ask('PATCH', '/credentials/shared', { gateway_params: { api_base: 'https://else.example' } }),
    ).toMatchObject({
      status: 400,
      body: {
        error: { param: 'gateway_params.api_key', message: expect.stringContaining('another provider or address') },
      },
    })
    await ask('POST', '/models', deployment('bound', { api_base: upstream.url }))
    const moved = { api_key: FIRST, headers: null, api_base: 'https://else.example' }
    expect(await ask('PATCH', '/credentials/shared', { gateway_params: moved })).toMatchObject({
      status: 409,
      body: { error: { code: 'credential_in_use', message: expect.stringContaining(': bound-1.') } },
    })
    expect(await ask('DELETE', '/models/bound-1')).toMatchObject({ status: 200 })
  })

  it('is not removed while a deployment names it, and not under one that is being made', async () => {
    expect(await ask('DELETE', '/credentials/shared')).toMatchObject({
      status: 409,
      body: { error: { code: 'credential_in_use', message: expect.stringContaining('of-file-1, one-1, two-1') } },
    })
    const params = { api_key: 'k', api_base: upstream.url }
    for (const name of ['a', 'b', 'c', 'd']) {
      await ask('POST', '/credentials', { name, provider: 'openai-compatible', gateway_params: params })
      const [made, removed] = await Promise.all([
        ask('POST', '/models', {
          model_name: `race-${name}`,
          gateway_params: { model: 'openai-compatible/x', credential: name },
        }),
        ask('DELETE', `/credentials/${name}`),
      ])
      expect([made.status, removed.status]).toEqual(made.status === 201 ? [201, 409] : [400, 200])
    }
  })

  it('a deployment goes back to secrets of its own', async () => {
    const own = { credential: null, api_key: FIRST, api_base: `${upstream.url}/v1` }
    expect(await ask('PATCH', '/models/two-1', { gateway_params: own })).toMatchObject({ status: 200 })
    expect(await keyOf(here, 'two')).toBe(FIRST)
    expect((await ask('GET', '/credentials/shared')).body.deployments).toEqual(['of-file-1', 'one-1'])
  })

  it('an unknown one is 404, whatever it is called', async () => {
    for (const name of ['nobody', '%00', "'; drop table gateway_credential; --", 'x'.repeat(5000)]) {
      for (const method of ['GET', 'DELETE', 'PATCH']) {
        const { status, body } = await ask(method, `/credentials/${name}`, method === 'PATCH' ? {} : undefined)
        expect([status, body.error.param]).toEqual([404, 'name'])
      }
    }
  })

  it('its secrets are in no answer, no audit and no row', async () => {
    const query = (sql: string) => here.sql.query({ sql, parameters: [] })
    const [rows, events] = [
      await query('SELECT gateway_credential::text AS row FROM gateway_credential'),
      await query('SELECT gateway_audit_event::text AS row FROM gateway_audit_event'),
    ]
    expect(rows.rows.length).toBeGreaterThan(0)
    expect(events.rows.length).toBeGreaterThan(5)
    for (const canary of [FIRST, SECOND, HEADER]) {
      expect([...seen, JSON.stringify(rows), JSON.stringify(events)].filter((text) => text.includes(canary))).toEqual(
        [],
      )
    }
  })
})
