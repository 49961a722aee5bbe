import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { adminApi } from '../support/admin-api.ts'
import { configuration, deployment, echo } from '../support/configuration.ts'
import { type FullGateway, startFullGateway } from '../support/full-gateway.node.ts'
import { chatInit } from '../support/gateway.ts'
import { preparedDatabase } from '../support/prepared-database.ts'
import { rateLimited } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]

describe('Errors', () => {
  const gateway = withGateway()

  it('all deployments of the group at capacity under pre-call checks: 503', async () => {
    const text = configuration({
      router_settings: { enable_pre_call_checks: true },
      model_list: [
        deployment(upstream.url, 'group', 'errors-a', { rpm_limit: 1 }),
        deployment(upstream.url, 'group', 'errors-b', { rpm_limit: 1 }),
      ],
    })
    await gateway.restart(text)
    const answers: Response[] = []
    for (let call = 0; call < 3; call++) answers.push(await gateway.chat({ model: 'group', messages }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 503])
    expect(await answers[2]?.json()).toMatchObject({ error: { code: 'no_capacity' } })
    const retryAfter = Number(answers[2]?.headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect(retryAfter).toBeLessThanOrEqual(60)
  })

  it('a group at capacity is told by the name that was asked for, whatever its fallbacks are called', async () => {
    const text = configuration({
      router_settings: { enable_pre_call_checks: true },
      gateway_settings: { fallbacks: [{ group: ['inner'] }] },
      model_list: [
        deployment(upstream.url, 'group', 'errors-outer', { rpm_limit: 1 }),
        deployment(upstream.url, 'inner', 'errors-inner', { rpm_limit: 1 }),
      ],
    })
    await gateway.restart(text)
    let last = new Response()
    for (let call = 0; call < 3; call++) last = await gateway.chat({ model: 'group', messages })
    expect(await last.json()).toMatchObject({
      error: { code: 'no_capacity', message: expect.stringContaining("'group'") },
    })
  })

  it('a provider 429 despite the checks is handled by failover to another deployment in the group', async () => {
    const text = configuration({
      router_settings: { routing_strategy: 'priority-based-routing', num_retries: 1 },
      model_list: [
        deployment(upstream.url, 'group', 'errors-limited', { priority: 0 }),
        deployment(upstream.url, 'group', 'errors-free', { priority: 1 }),
      ],
    })
    await gateway.restart(text)
    await upstream.script('errors-limited', [rateLimited({ seconds: 30 })])
    const started = performance.now()
    const response = await gateway.chat({ model: 'group', messages })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-deployment')).toBe('errors-free')
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    expect(performance.now() - started).toBeLessThan(15_000)
  })
})

describe.skipIf(inject('postgresUrl') === '' || inject('redisUrl') === '')('429 body fields', () => {
  const levels = ['org', 'team', 'user', 'key'] as const
  const dimensions = ['rpm', 'tpm', 'rph', 'rpd', 'tpd'] as const
  const paths = { org: 'organizations', team: 'teams', user: 'users', key: 'keys' }
  let full: FullGateway
  const ask = adminApi(() => full)

  beforeAll(async () => {
    const general_settings = {
      database_url: await preparedDatabase(inject('postgresUrl')),
      redis_url: inject('redisUrl'),
    }
    full = await startFullGateway(configuration({ general_settings, model_list: [echo('echo', 'echo-1')] }))
  })
  afterAll(() => full?.close())

  it.each(levels.flatMap((level) => dimensions.map((dimension) => [level, dimension] as const)))(
    '`<scope>` has the form `<level>_<dimension>`: %s_%s',
    async (level, dimension) => {
      const limits = { [`${dimension}_limit`]: 0 }
      const owner = level === 'key' ? {} : (await ask('POST', `/${paths[level]}`, limits)).body
      const { organization_id, team_id, user_id } = owner
      const belonging = { org: { organization_id }, team: { team_id }, user: { user_id }, key: limits }[level]
      const { key } = (await ask('POST', '/keys', belonging)).body
      const headers = { authorization: `Bearer ${key}` }
      const response = await full.fetch('/v1/chat/completions', chatInit({ model: 'echo', messages }, { headers }))
      const scope = `${level}_${dimension}`
      expect(response.status).toBe(429)
      expect(await response.json()).toEqual({
        error: {
          message: `Rate limit exceeded for scope '${scope}'`,
          type: 'rate_limit_error',
          param: scope,
          code: `${scope}_exceeded`,
        },
      })
      const seconds = Number(response.headers.get('retry-after'))
      expect(seconds).toBeGreaterThanOrEqual(1)
      expect(seconds).toBeLessThanOrEqual({ m: 60, h: 3600, d: 86_400 }[dimension.at(-1) as 'm' | 'h' | 'd'])
      // Clients that repeat a 429 by themselves are told where it would be in vain.
      expect(response.headers.get('x-should-retry')).toBe(seconds > 60 ? 'false' : null)
    },
  )

  it('a request that alone is above a limit of tokens is not to be repeated', async () => {
    const { key } = (await ask('POST', '/keys', { tpm_limit: 20 })).body
    const headers = { authorization: `Bearer ${key}` }
    const long = [{ role: 'user', content: 'x'.repeat(400) }]
    const response = await full.fetch('/v1/chat/completions', chatInit({ model: 'echo', messages: long }, { headers }))
    expect(response.status).toBe(429)
    expect(await response.json()).toMatchObject({
      error: {
        message: "Rate limit exceeded for scope 'key_tpm'",
        type: 'rate_limit_error',
        param: 'key_tpm',
        code: 'key_tpm_exceeded',
      },
    })
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(response.headers.get('x-should-retry')).toBe('false')
    const short = await full.fetch('/v1/chat/completions', chatInit({ model: 'echo', messages }, { headers }))
    expect(short.status).toBe(200)
  })
})
