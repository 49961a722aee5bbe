import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { adminApi } from '../support/admin-api.ts'
import { configuration, echo } from '../support/configuration.ts'
import { type FullGateway, startFullGateway } from '../support/full-gateway.node.ts'
import { preparedDatabase } from '../support/prepared-database.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { withFullGateway, withGateway } from '../support/with-gateway.ts'

const postgresUrl = inject('postgresUrl')
const messages = [{ role: 'user', content: 'Hello' }]
const model_list = [echo('echo', 'echo-1')]

describe.skipIf(postgresUrl === '' || inject('redisUrl') === '')('Degraded mode', () => {
  let redis: RedisServer
  let open: FullGateway
  let closed: FullGateway

  beforeAll(async () => {
    redis = (await startRedis()) as RedisServer
    const start = async (more: object) => {
      const stores = { database_url: await preparedDatabase(postgresUrl), redis_url: redis.url }
      return startFullGateway(configuration({ general_settings: { ...stores, ...more }, model_list }))
    }
    open = await start({})
    closed = await start({ degraded_mode: 'fail_closed' })
  })
  afterAll(async () => {
    await open.close()
    await closed.close()
    await redis.stop()
  })

  const statusOf = async (gateway: FullGateway) => (await gateway.chat({ model: 'echo', messages })).status

  it('while the shared store is there, both modes answer and are ready', async () => {
    for (const gateway of [open, closed]) {
      expect(await statusOf(gateway)).toBe(200)
      expect((await gateway.fetch('/health/readiness')).status).toBe(200)
    }
  })

  it('when the shared store is unavailable, fail_open (default) goes on with counters of the process', async () => {
    await redis.stop()
    for (let call = 0; call < 3; call++) expect(await statusOf(open)).toBe(200)
  })

  it('fail_closed: every request is rejected with 503', async () => {
    const response = await closed.chat({ model: 'echo', messages })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { code: 'store_unavailable' } })
  })

  it('readiness check fails: 503, and the report says which dependency is away', async () => {
    for (const gateway of [open, closed]) {
      const response = await gateway.fetch('/health/readiness')
      expect(response.status).toBe(503)
      expect(await response.json()).toEqual({ status: 'unavailable', checks: { redis: false, database: true } })
      expect((await gateway.fetch('/health/liveliness')).status).toBe(200)
    }
  })
})

describe.skipIf(postgresUrl === '' || inject('redisUrl') === '')('Identity limits', () => {
  const ask = adminApi(() => gateway)
  const body = JSON.stringify({ model: 'echo', messages })
  const tokens = Math.floor(body.length / 4)

  const gateway = withFullGateway(async () => {
    const general_settings = { database_url: await preparedDatabase(postgresUrl), redis_url: inject('redisUrl') }
    return configuration({ general_settings, model_list })
  })

  const newKey = async (fields: object) => (await ask('POST', '/keys', fields)).body
  const chat = (key: string, text = body) =>
    gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      body: text,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
  const remaining = (response: Response, unit: string) => response.headers.get(`x-ratelimit-remaining-${unit}`)

  it('1. the check runs as middleware on every endpoint, before routing', async () => {
    const { key } = await newKey({ rpm_limit: 2 })
    const headers = { authorization: `Bearer ${key}` }
    expect((await gateway.fetch('/v1/models', { headers })).status).toBe(200)
    expect((await chat(key, body.replace('"echo"', '"nobody"'))).status).toBe(404)
    expect((await chat(key, body.replace('"echo"', '"nobody"'))).status).toBe(429)
    expect((await gateway.fetch('/health/deployments', { headers })).status).toBe(429)
  })

  it('2. a request must pass every configured scope and window; null or omitted is skipped', async () => {
    const organization = (await ask('POST', '/organizations', { rpm_limit: null })).body.organization_id
    const team = (await ask('POST', '/teams', { organization_id: organization, rph_limit: 50 })).body.team_id
    const { key } = await newKey({ team_id: team, rpd_limit: 50 })
    expect((await chat(key)).headers.get('x-gateway-ratelimit-scope')).toBe('team_rph,key_rpd')
  })

  it('3. if any check fails, the request is rejected with 429 and no counter changes', async () => {
    const { key } = await newKey({ rpm_limit: 10, tpm_limit: tokens })
    expect(remaining(await chat(key), 'requests')).toBe('9')
    for (let call = 0; call < 3; call++) {
      const refused = await chat(key)
      expect([refused.status, remaining(refused, 'requests')]).toEqual([429, '9'])
    }
  })

  it('4. windows are independent: 60 seconds, the end of the clock hour, midnight UTC', async () => {
    const reset = async (fields: object) => {
      const before = Date.now()
      const response = await chat((await newKey(fields)).key)
      return { before: before / 1000, at: Number(response.headers.get('x-ratelimit-reset-requests')) }
    }
    const minute = await reset({ rpm_limit: 5 })
    expect(minute.at - minute.before).toBeGreaterThanOrEqual(59)
    expect(minute.at - minute.before).toBeLessThan(63)
    const hour = await reset({ rph_limit: 5 })
    expect([hour.at % 3600, hour.at - hour.before <= 3601]).toEqual([0, true])
    const day = await reset({ rpd_limit: 5 })
    expect([day.at % 86_400, day.at - day.before <= 86_401]).toEqual([0, true])
  })

  it('5. `max_parallel_requests` goes up when a request starts and down when the response finishes', async () => {
    const { key } = await newKey({ max_parallel_requests: 1 })
    for (let call = 0; call < 5; call++) expect((await chat(key)).status).toBe(200)
    const { key: blocked } = await newKey({ max_parallel_requests: 0 })
    expect((await chat(blocked)).status).toBe(429)
  })

  it('6. an org limit is shared across all models and keys of that org; the ceiling is the tightest scope', async () => {
    const organization_id = (await ask('POST', '/organizations', { rpm_limit: 3 })).body.organization_id
    const team_id = (await ask('POST', '/teams', { organization_id, rpm_limit: 100 })).body.team_id
    const one = (await newKey({ team_id })).key
    const other = (await newKey({ organization_id, rpm_limit: 50 })).key
    expect([(await chat(one)).status, (await chat(other)).status, (await chat(one)).status]).toEqual([200, 200, 200])
    const refused = await chat(other)
    expect(await refused.json()).toMatchObject({ error: { param: 'org_rpm' } })
    expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('3')
  })

  it('7. 1 token per 4 characters of the serialized JSON body; multipart requests count as 1 token', async () => {
    const { key } = await newKey({ tpd_limit: 100_000 })
    expect(remaining(await chat(key), 'tokens')).toBe(String(100_000 - tokens))
    const form = new FormData()
    form.append('model', 'echo')
    form.append('file', new Blob(['x'.repeat(9000)]), 'a.wav')
    const headers = { authorization: `Bearer ${key}` }
    const upload = await gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body: form, headers })
    expect(remaining(upload, 'tokens')).toBe(String(100_000 - tokens - 1))
  })

  it.each(['keys', 'teams', 'organizations'])('8. new limits of %s apply from the next request', async (path) => {
    const organization_id = (await ask('POST', '/organizations', {})).body.organization_id
    const team_id = (await ask('POST', '/teams', { organization_id })).body.team_id
    const { key, key_id } = await newKey({ team_id })
    expect((await chat(key)).status).toBe(200)
    const id = { keys: key_id, teams: team_id, organizations: organization_id }[path]
    await ask('PATCH', `/${path}/${id}`, { rpm_limit: 0 })
    expect((await chat(key)).status).toBe(429)
    await ask('PATCH', `/${path}/${id}`, { rpm_limit: null })
    expect((await chat(key)).status).toBe(200)
  })

  it('9. response headers on every proxied response; near_limit above 80% of any configured limit', async () => {
    const { key } = await newKey({ rpm_limit: 5, tpm_limit: 100_000 })
    const answers: Response[] = []
    for (let call = 0; call < 6; call++) answers.push(await chat(key))
    expect(answers.map((answer) => remaining(answer, 'requests'))).toEqual(['4', '3', '2', '1', '0', '0'])
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-warning'))).toEqual([
      ...[null, null, null, null],
      ...['near_limit', 'near_limit'],
    ])
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit-requests')).toBe('5')
      expect(headers.get('x-ratelimit-limit-tokens')).toBe('100000')
      expect(Number(headers.get('x-ratelimit-reset-tokens'))).toBeGreaterThan(Date.now() / 1000)
    }
    expect(answers.map(({ headers }) => headers.has('retry-after'))).toEqual([false, false, false, false, false, true])
  })
})

describe('Deployment limits', () => {
  const limited = [echo('group', 'limits-a', { rpm_limit: 2 })]
  const gateway = withGateway()
  const statuses = async (calls: number) => {
    const found: number[] = []
    for (let call = 0; call < calls; call++) found.push((await gateway.chat({ model: 'group', messages })).status)
    return found
  }

  it('2. they are enforced during routing only when `enable_pre_call_checks` is true (default false)', async () => {
    await gateway.restart(configuration({ model_list: limited }))
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 200])
  })

  it('3. a deployment at or above 100% of its limit is excluded; when no candidate is left, the request fails with 503', async () => {
    const router_settings = { enable_pre_call_checks: true }
    await gateway.restart(configuration({ router_settings, model_list: limited }))
    expect(await statuses(4)).toEqual([200, 200, 503, 503])
  })

  it('3. exactly as many as the limit pass, when all come at once', async () => {
    const router_settings = { enable_pre_call_checks: true }
    await gateway.restart(configuration({ router_settings, model_list: limited }))
    const all = await Promise.all(Array.from({ length: 20 }, () => gateway.chat({ model: 'group', messages })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(2)
  })
})
