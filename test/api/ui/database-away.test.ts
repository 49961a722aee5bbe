import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { SqlError } from '../../../src/stores/sql/sql.ts'
import { emptyEmbeddedSql } from '../../support/embedded-database.node.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type Switchable, switchable } from '../../system/worker/support/switchable.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('while the database is away', () => {
  let line: Switchable
  let gateway: FullGateway

  beforeAll(async () => {
    line = await switchable(await preparedDatabase(postgresUrl))
    gateway = await startFullGateway(`
general_settings: { database_url: '${line.url}' }
model_list:
  - { model_name: of-file, gateway_params: { model: echo/file } }
`)
  })
  afterAll(async () => {
    await line?.set('open')
    await gateway?.close()
    await line?.close()
  })

  const model = JSON.stringify({ model_name: 'm', gateway_params: { model: 'echo/m' } })
  const group = JSON.stringify({ name: 'g', members: [{ model_name: 'of-file' }] })
  const json = { 'content-type': 'application/json' }
  const asked: [string, RequestInit][] = [
    ['/ui/api/models', {}],
    ['/ui/api/models/any', {}],
    ['/ui/api/models', { method: 'POST', body: model, headers: json }],
    ['/ui/api/models/any', { method: 'DELETE' }],
    ['/ui/api/route-groups', {}],
    ['/ui/api/route-groups', { method: 'POST', body: group, headers: json }],
    ['/ui/api/keys', {}],
    ['/ui/api/keys', { method: 'POST', body: '{}', headers: json }],
    ['/ui/api/teams/any', { method: 'PATCH', body: '{}', headers: json }],
    ['/ui/api/users/any', { method: 'DELETE' }],
    ['/ui/api/organizations/any/members', {}],
    ['/ui/api/audit/events', {}],
  ]

  it.each(['closed', 'stalled'] as const)('(%s) the admin API says so, in time, and says nothing more', async (how) => {
    await line.set(how)
    const startedAt = performance.now()
    const answers = await Promise.all(asked.map(([path, init]) => gateway.fetch(path, init)))
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    for (const answer of answers) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('2')
      const message = 'The database is unavailable. Retry later.'
      expect(await answer.json()).toEqual({
        error: { message, type: 'api_error', param: null, code: 'database_unavailable' },
      })
    }
    const chat = await gateway.chat({ model: 'of-file', messages: [{ role: 'user', content: 'Hello' }] })
    expect(chat.status).toBe(200)
    await line.set('open')
    expect((await gateway.fetch('/ui/api/models')).status).toBe(200)
  })
})

describe.skipIf(!postgresUrl)('while the database is a standby, which takes no writes', () => {
  let url: string
  let gateway: FullGateway
  /** Every connection ends, as at a failover. */
  async function failOver(to: 'on' | 'off'): Promise<void> {
    const name = new URL(url).pathname.slice(1)
    const server = new pg.Client({ connectionString: postgresUrl })
    await server.connect()
    await server.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${to}`)
    await server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
    await server.end()
  }

  beforeAll(async () => {
    url = await preparedDatabase(postgresUrl)
    gateway = await startFullGateway(`
general_settings: { database_url: '${url}' }
model_list:
  - { model_name: of-file, gateway_params: { model: echo/file } }
`)
  })
  afterAll(() => gateway?.close())

  it('writes of the admin API are refused as while it is away; what only reads goes on', async () => {
    const post = (path: string, body: object) =>
      gateway.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await failOver('on')
    const writes = await Promise.all([
      post('/ui/api/keys', {}),
      post('/ui/api/models', { model_name: 'm', gateway_params: { model: 'echo/m' } }),
      post('/ui/api/prompts', { key: 'greeting', messages: [{ role: 'system', content: 'Hello' }] }),
      post('/auth/internal/login', { master_key: MASTER_KEY }),
    ])
    for (const answer of writes) {
      expect(answer.status).toBe(503)
      expect((await answer.json()).error.code).toBe('database_unavailable')
    }
    expect((await gateway.fetch('/ui/api/keys')).status).toBe(200)
    const chat = await gateway.chat({ model: 'of-file', messages: [{ role: 'user', content: 'Hello' }] })
    expect(chat.status).toBe(200)
    await failOver('off')
    await expect.poll(async () => (await post('/ui/api/keys', {})).status).toBe(201)
  })
})

describe.skipIf(!postgresUrl).each(['closed', 'stalled'] as const)('before the database was ever read (%s)', (how) => {
  let line: Switchable
  const gateways: FullGateway[] = []
  const start = async (withoutDatabase = false) => {
    const gateway = await startFullGateway(
      `
general_settings: { database_url: '${line.url}' }
model_list:
  - { model_name: of-file, gateway_params: { model: echo/file } }
`,
      { withoutDatabase },
    )
    gateways.push(gateway)
    return gateway
  }
  beforeAll(async () => {
    line = await switchable(await preparedDatabase(postgresUrl))
  })
  afterAll(async () => {
    await line?.set('open')
    for (const gateway of gateways) await gateway.close()
    await line?.close()
  })

  it('nothing that it may have is said to be missing', async () => {
    const before = await start()
    const model = { deployment_id: 'm-1', model_name: 'm', gateway_params: { model: 'echo/m' } }
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(model) }
    expect((await before.fetch('/ui/api/models', init)).status).toBe(201)
    await line.set(how)
    const gateway = await start(true)
    const messages = [{ role: 'user', content: 'Hello' }]
    const asked = await Promise.all([
      gateway.chat({ model: 'm', messages }),
      gateway.fetch('/v1/models/m'),
      gateway.chat({ model: 'of-file', messages, metadata: { prompt_ref: 'greeting' } }),
      gateway.chat({ model: 'of-file', messages, tools: [{ type: 'mcp', server: 'docs' }] }),
    ])
    for (const answer of asked) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect((await answer.json()).error.code).toBe('database_unavailable')
    }
    expect((await gateway.chat({ model: 'of-file', messages })).status).toBe(200)
    await line.set('open')
    await expect.poll(async () => (await gateway.chat({ model: 'm', messages })).status).toBe(200)
    expect((await gateway.chat({ model: 'other', messages })).status).toBe(404)
  })
})

it('the embedded database that has ended is away, too', async () => {
  const sql = await emptyEmbeddedSql()
  await sql.close()
  const error = await sql.query({ sql: 'SELECT 1', parameters: [] }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SqlError)
  expect(error).toMatchObject({ isAway: true })
})
