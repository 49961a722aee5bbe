import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type GatewayProcess, type Place, place } from '../../../runtimes/node/gateway-process.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const upstream = upstreamClient(inject('upstreamUrl'))

const KEY = 'sk-stored-canary-5d0e7c'
const HEADER = 'header-canary-a81f33'
const ENVIRONMENT = 'environment-canary-20cc61'

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

describe.skipIf(!postgresUrl || !redisUrl)('models of the database, in two processes', () => {
  const seen: string[] = []
  let databaseUrl: string
  let here: Place
  let one: GatewayProcess
  let other: GatewayProcess

  beforeAll(async () => {
    databaseUrl = await preparedDatabase(postgresUrl)
    here = await place()
    const yaml = [
      'general_settings: { log_level: debug }',
      'router_settings: { model_group_alias: { nickname: of-file } }',
      'model_list:',
      '  - { model_name: of-file, gateway_params: { model: echo/file, api_key: sk-file-canary-77 } }',
    ].join('\n')
    const env = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      GATEWAY_SALT_KEY: 'salt-of-the-tests-0f4d1b7a93',
      CANARY: ENVIRONMENT,
    }
    one = await here.start({ yaml, env })
    other = await here.start({ yaml, env })
    await Promise.all([one.greeted(), other.greeted()])
  })
  afterAll(() => here?.clear())

  async function ask(method: string, path: string, body?: unknown, gateway = one): Promise<Answer> {
    const response = await gateway.fetch(`/ui/api/models${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    seen.push(text)
    return { status: response.status, body: JSON.parse(text) }
  }

  const at = (upstreamModel: string, more: object = {}) => ({
    model: `openai-compatible/${upstreamModel}`,
    api_base: `${upstream.url}/v1`,
    api_key: KEY,
    ...more,
  })

  async function status(gateway: GatewayProcess, model: string): Promise<number> {
    const response = await gateway.chat({ model })
    seen.push(await response.text())
    return response.status
  }

  async function within5Seconds(holds: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 15_000
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error('not so within 5 seconds')
      await wait(100)
    }
  }

  it('are there at once where they were made, within 5 s elsewhere, and call their provider with the stored secrets', async () => {
    expect(await status(other, 'made')).toBe(404)
    const made = await ask('POST', '', {
      model_name: 'made',
      gateway_params: at('ui-made', { headers: { 'x-extra': HEADER } }),
      model_info: { weight: 3 },
    })
    expect(made).toMatchObject({
      status: 201,
      body: {
        deployment_id: 'made-1',
        source: 'database',
        has_api_key: true,
        version: 1,
        gateway_params: { api_key: '[secret]', headers: { 'x-extra': '[secret]' } },
        model_info: { weight: 3 },
      },
    })
    expect(await status(one, 'made')).toBe(200)
    const [call] = await upstream.calls('ui-made')
    expect(call?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-extra': HEADER })
    await within5Seconds(async () => (await status(other, 'made')) === 200)

    expect((await ask('GET', '/made-1', undefined, other)).body).toEqual(made.body)
  })

  it('reach a process that nobody has called for a while with its next call', async () => {
    await ask('POST', '', { model_name: 'later', gateway_params: { model: 'echo/later' } })
    await wait(5000)
    expect(await status(other, 'later')).toBe(200)
  })

  it('PATCH keeps what is left out and takes away what is null', async () => {
    const changed = await ask('PATCH', '/made-1', { model_info: { weight: null, priority: 2 } })
    expect(changed).toMatchObject({ status: 200, body: { version: 2, has_api_key: true, model_info: { priority: 2 } } })
    expect(changed.body.model_info).not.toHaveProperty('weight')
    expect(await status(one, 'made')).toBe(200)
    expect((await upstream.calls('ui-made')).at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`)

    const without = await ask('PATCH', '/made-1', { gateway_params: { headers: null } })
    expect(without.body.gateway_params).not.toHaveProperty('headers')
    await status(one, 'made')
    expect((await upstream.calls('ui-made')).at(-1)?.headers).not.toHaveProperty('x-extra')
  })

  it('PUT replaces; a secret that comes back as its mask stays', async () => {
    const { body } = await ask('GET', '/made-1')
    const { model_name, gateway_params } = body
    const put = await ask('PUT', '/made-1', { model_name, gateway_params, version: body.version })
    expect(put).toMatchObject({ status: 200, body: { model_info: {}, has_api_key: true } })
    await status(one, 'made')
    expect((await upstream.calls('ui-made')).at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`)
  })

  it.each([
    [{ model: 'vertex/gemini-2.5-pro' }, 'needs gateway_params.api_key'],
    [{ model: 'bedrock/x', api_key: 'k' }, 'needs gateway_params.region'],
    [{ model: 'cloudflare/x', api_key: 'k' }, 'needs gateway_params.project'],
  ])('refuse parameters by which their provider cannot be called: %j', async (gateway_params, message) => {
    const refused = {
      status: 400,
      body: { error: { param: 'gateway_params', message: expect.stringContaining(message) } },
    }
    expect(await ask('POST', '', { model_name: 'uncallable', gateway_params })).toMatchObject(refused)
    const model_name = `callable-${gateway_params.model}`
    const { body } = await ask('POST', '', { model_name, gateway_params: { model: 'echo/x' } })
    const change = { gateway_params: { ...gateway_params } }
    expect(await ask('PATCH', `/${encodeURIComponent(body.deployment_id)}`, change)).toMatchObject(refused)
    expect(await status(one, model_name)).toBe(200)
  })

  it('a stored secret does not follow its deployment to another address', async () => {
    const api_base = upstream.url.replace('127.0.0.1', 'localhost')
    expect(await ask('PATCH', '/made-1', { gateway_params: { api_base } })).toMatchObject({
      status: 400,
      body: { error: { param: 'gateway_params.api_key', message: expect.stringContaining('another provider') } },
    })
    expect(await ask('PATCH', '/made-1', { gateway_params: { provider: 'vllm' } })).toMatchObject({ status: 400 })
    const moved = await ask('PATCH', '/made-1', { gateway_params: { api_base: `${api_base}/v1`, api_key: KEY } })
    expect(moved).toMatchObject({ status: 200 })
    expect(await status(one, 'made')).toBe(200)
  })

  it('one of two writers at once is told', async () => {
    const { version } = (await ask('GET', '/made-1')).body
    const answers = await Promise.all(
      [one, other].map((gateway) => ask('PATCH', '/made-1', { version, model_info: { weight: 5 } }, gateway)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const loser = answers.find(({ status }) => status === 409)
    expect(loser?.body.error).toMatchObject({ code: 'version_conflict', param: 'version' })
  })

  it('ids of many created at once differ; a taken one is refused', async () => {
    const body = { model_name: 'crowd', gateway_params: { model: 'echo/crowd' } }
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) => ask('POST', '', body, index % 2 ? one : other)),
    )
    expect(made.map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect(new Set(made.map((answer) => answer.body.deployment_id)).size).toBe(8)
    expect(await ask('POST', '', { ...body, deployment_id: 'crowd-1' })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', param: 'deployment_id' } },
    })
  })

  it('the list has those of the database and of the file, in pages', async () => {
    const ids: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Answer = await ask('GET', `?limit=3&cursor=${encodeURIComponent(cursor)}`)
      expect(page.body.data.length).toBeLessThanOrEqual(3)
      ids.push(...page.body.data.map((model: { deployment_id: string }) => model.deployment_id))
      cursor = page.body.next_cursor
    }
    expect(ids).toEqual([...ids].sort())
    expect(ids).toEqual(expect.arrayContaining(['crowd-1', 'later-1', 'made-1', 'of-file-1']))
    expect(new Set(ids).size).toBe(ids.length)
    const found = await ask('GET', '?search=OF-FILE')
    expect(found.body.data).toMatchObject([{ deployment_id: 'of-file-1', source: 'file', version: null }])
  })

  it('an entry of the file is read-only, until a record stands in its place', async () => {
    for (const [method, body] of [['PATCH', {}], ['DELETE']] as const) {
      expect(await ask(method, '/of-file-1', body)).toMatchObject({
        status: 409,
        body: { error: { code: 'kept_in_file' } },
      })
    }
    const entry = { deployment_id: 'of-file-1', model_name: 'of-file', gateway_params: at('ui-instead') }
    expect(await ask('POST', '', entry)).toMatchObject({ status: 201 })
    expect(await status(one, 'nickname')).toBe(200)
    expect(await upstream.calls('ui-instead')).toHaveLength(1)
    expect((await ask('GET', '?search=of-file')).body.data).toMatchObject([{ source: 'database' }])
    expect(await ask('DELETE', '/of-file-1')).toMatchObject({ status: 200 })
    expect(await ask('GET', '/of-file-1')).toMatchObject({ status: 200, body: { source: 'file' } })
    expect(await status(one, 'of-file')).toBe(200)
    expect(await upstream.calls('ui-instead')).toHaveLength(1)
  })

  it('a removed one is gone, elsewhere within 5 s', async () => {
    expect(await ask('DELETE', '/later-1')).toMatchObject({ status: 200 })
    expect(await status(one, 'later')).toBe(404)
    await within5Seconds(async () => (await status(other, 'later')) === 404)
    expect(await ask('GET', '/later-1')).toMatchObject({ status: 404 })
    expect(await ask('DELETE', '/later-1')).toMatchObject({ status: 404 })
  })

  it.each([
    ['a missing field', { model_name: 'x' }, 'gateway_params'],
    [
      'an unknown field',
      { model_name: 'x', gateway_params: { model: 'echo/x', api_kee: 'k' } },
      'gateway_params.api_kee',
    ],
    ['an unknown provider', { model_name: 'x', gateway_params: { model: 'nobody/x' } }, 'gateway_params.model'],
    [
      'a public http address',
      { model_name: 'x', gateway_params: at('x', { api_base: 'http://example.com' }) },
      'gateway_params.api_base',
    ],
    [
      'a wrong kind',
      { model_name: 'x', gateway_params: { model: 'echo/x' }, model_info: { weight: '3' } },
      'model_info.weight',
    ],
    [
      'a reference to the environment',
      { model_name: 'x', gateway_params: at('x', { api_key: 'os.environ/CANARY' }) },
      'gateway_params.api_key',
    ],
    [
      'a mask of nothing',
      { model_name: 'x', gateway_params: at('x', { api_key: '[secret]' }) },
      'gateway_params.api_key',
    ],
    ['an alias', { model_name: 'nickname', gateway_params: { model: 'echo/x' } }, 'model_name'],
    ['no map', [], 'top level'],
  ])('%s is a 400 that names it', async (_, body, param) => {
    expect(await ask('POST', '', body)).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', param, message: expect.stringContaining(`${param}: `) } },
    })
  })

  it.each(['%00', '%F0%9F%92%A3', "'; drop table gateway_model; --", 'x'.repeat(5000)])(
    'id %s is unknown',
    async (id) => {
      for (const method of ['GET', 'DELETE', 'PATCH']) {
        expect((await ask(method, `/${id}`, method === 'PATCH' ? {} : undefined)).status).toBe(404)
      }
    },
  )

  it('nobody gets in without the key', async () => {
    for (const authorization of ['', 'Bearer sk-wrong']) {
      for (const method of ['GET', 'POST']) {
        const response = await one.fetch('/ui/api/models', { method, headers: { authorization } })
        expect(response.status).toBe(401)
      }
    }
  })

  it('secrets copied to another record do not open: that one is left out and reported, and breaks no other', async () => {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(`INSERT INTO gateway_model (deployment_id, model_name, gateway_params, model_info, sealed)
      SELECT 'broken-1', 'broken', '{"model":"echo/x","api_key":"[secret]"}', '{}', sealed FROM gateway_model WHERE deployment_id = 'made-1'`)
    await client.query("UPDATE gateway_revision SET revision = revision + 1 WHERE subject = 'routing'")
    await client.end()
    await within5Seconds(async () => {
      expect(await status(other, 'made')).toBe(200)
      return other.logged('registry.record_left_out').length > 0
    })
    expect(await status(other, 'broken')).toBe(404)
    expect(await ask('PATCH', '/broken-1', { model_info: { weight: 2 } })).toMatchObject({
      status: 400,
      body: { error: { param: 'gateway_params.api_key' } },
    })
    expect(await ask('PATCH', '/broken-1', { gateway_params: { api_key: KEY } })).toMatchObject({ status: 200 })
    expect(await status(one, 'broken')).toBe(200)
  })

  it('stored secrets are in no answer, no log and no row', async () => {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    const { rows } = await client.query('SELECT gateway_model::text AS row FROM gateway_model')
    await client.end()
    expect(rows.length).toBeGreaterThan(8)
    const everything = [...seen, one.output(), one.errors(), other.output(), other.errors(), JSON.stringify(rows)]
    for (const canary of [KEY, HEADER, ENVIRONMENT, 'sk-file-canary-77']) {
      expect(everything.filter((text) => text.includes(canary))).toEqual([])
    }
  })
})
