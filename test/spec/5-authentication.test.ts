import { createClient } from '@redis/client'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { routes } from '../../src/app.ts'
import { keyHasher } from '../../src/lib/crypto.ts'
import { authKey } from '../../src/stores/kv/keys.ts'
import { type AdminAnswer, adminApi } from '../support/admin-api.ts'
import { configuration, echo } from '../support/configuration.ts'
import { FULL_GATEWAY_SALT_KEY, type FullGateway, startFullGateway } from '../support/full-gateway.node.ts'
import { chatInit, MASTER_KEY } from '../support/gateway.ts'
import { preparedDatabase } from '../support/prepared-database.ts'
import { withGateway } from '../support/with-gateway.ts'

const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }

const gateway = withGateway(() => configuration({ model_list: [echo('echo', 'echo-1')] }))

describe('Authentication', () => {
  const proxied = routes
    .map(({ contract }) => contract)
    .filter(({ path }) => path.startsWith('/v1/'))
    .map(({ method, path }) => [method, path.replace(/\{\w+\}/g, 'x')] as const)

  it.each(proxied)('1. every proxy endpoint takes `Authorization: Bearer <API_KEY>`: %s %s', async (method, path) => {
    const ask = async (authorization: string) => {
      const init = method === 'get' ? {} : chatInit(body, { method: method.toUpperCase() })
      const response = await gateway.fetch(path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), authorization },
      })
      await response.arrayBuffer()
      return response.status
    }
    for (const refused of ['', 'Bearer sk-wrong', `Basic ${MASTER_KEY}`, MASTER_KEY])
      expect(await ask(refused)).toBe(401)
    expect(await ask(`Bearer ${MASTER_KEY}`)).not.toBe(401)
  })

  it('2. the master key gives full access to proxy endpoints', async () => {
    expect((await gateway.chat(body)).status).toBe(200)
    expect((await gateway.fetch('/v1/models')).status).toBe(200)
  })

  it('12. /metrics needs no authentication, /health/fallback-events requires it', async () => {
    expect((await gateway.fetch('/health/fallback-events', { headers: { authorization: '' } })).status).toBe(401)
    expect((await gateway.fetch('/health/fallback-events')).status).toBe(200)
    expect((await gateway.fetch('/metrics', { headers: { authorization: '' } })).status).toBe(200)
  })
})

describe.skipIf(inject('postgresUrl') === '' || inject('redisUrl') === '')('Virtual API keys', () => {
  const hash = keyHasher(FULL_GATEWAY_SALT_KEY)
  const redis = createClient({ url: inject('redisUrl') })
  let full: FullGateway
  let database: string
  const ask = adminApi(() => full)

  beforeAll(async () => {
    database = await preparedDatabase(inject('postgresUrl'))
    const general_settings = { database_url: database, redis_url: inject('redisUrl') }
    full = await startFullGateway(configuration({ general_settings, model_list: [echo('echo', 'echo-1')] }))
    await redis.connect()
  })
  afterAll(async () => {
    await full?.close()
    await redis.close()
  })

  const models = (key: string) => full.fetch('/v1/models', { headers: { authorization: `Bearer ${key}` } })
  const made = async (fields: object = {}) => (await ask('POST', '/keys', fields)).body as AdminAnswer['body']

  it('2. the master key gives full access to admin endpoints; the admin examples send it as the bearer value', async () => {
    expect((await ask('GET', '/keys')).status).toBe(200)
    expect((await ask('GET', '/organizations')).status).toBe(200)
  })

  it('3. they are scoped and limited', async () => {
    const team = (await ask('POST', '/teams', { rpm_limit: 1 })).body.team_id
    const { key } = await made({ team_id: team })
    const admin = () => full.fetch('/ui/api/keys', { headers: { authorization: `Bearer ${key}` } })
    // What a key may not do counts as well.
    expect([(await admin()).status, (await models(key)).status, (await admin()).status]).toEqual([403, 429, 429])
  })

  it('3. they are stored hashed with the salt key', async () => {
    const { key, key_id } = await made()
    const client = new pg.Client({ connectionString: database })
    await client.connect()
    const { rows } = await client.query('SELECT * FROM gateway_key WHERE key_id = $1', [key_id])
    await client.end()
    expect(rows[0].key_hash).toBe(hash(key))
    expect(JSON.stringify(rows)).not.toContain(key)
  })

  it.each([
    ['regenerate', 'POST', '/regenerate'],
    ['revoke', 'POST', '/revoke'],
    ['delete', 'DELETE', ''],
  ])('3. auth lookups are cached in the shared store; %s invalidates the cache entry', async (_, method, action) => {
    const { key, key_id } = await made()
    expect((await models(key)).status).toBe(200)
    expect(await redis.get(authKey(hash(key)))).toContain(key_id)
    await ask(method, `/keys/${key_id}${action}`)
    expect(await redis.get(authKey(hash(key)))).toBeNull()
    expect((await models(key)).status).toBe(401)
  })
})
