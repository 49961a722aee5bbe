import { afterEach, describe, expect, inject, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { rateLimited } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { configuration, deployment } from './configuration.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]
let gateway: TestGateway
afterEach(() => gateway.close())

describe('Errors', () => {
  it('all deployments of the group at capacity under pre-call checks: 503', async () => {
    const text = configuration({
      router_settings: { enable_pre_call_checks: true },
      model_list: [
        deployment(upstream.url, 'group', 'errors-a', { rpm_limit: 1 }),
        deployment(upstream.url, 'group', 'errors-b', { rpm_limit: 1 }),
      ],
    })
    gateway = await startGateway(text)
    const answers: Response[] = []
    for (let call = 0; call < 3; call++) answers.push(await gateway.chat({ model: 'group', messages }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 503])
    expect(await answers[2]?.json()).toMatchObject({ error: { code: 'no_capacity' } })
    const retryAfter = Number(answers[2]?.headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect(retryAfter).toBeLessThanOrEqual(60)
  })

  it('a provider 429 despite the checks is handled by failover to another deployment in the group', async () => {
    const text = configuration({
      router_settings: { routing_strategy: 'priority-based-routing', num_retries: 1 },
      model_list: [
        deployment(upstream.url, 'group', 'errors-limited', { priority: 0 }),
        deployment(upstream.url, 'group', 'errors-free', { priority: 1 }),
      ],
    })
    gateway = await startGateway(text)
    await upstream.script('errors-limited', [rateLimited({ seconds: 30 })])
    const started = performance.now()
    const response = await gateway.chat({ model: 'group', messages })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-deployment')).toBe('errors-free')
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    expect(performance.now() - started).toBeLessThan(2000)
  })
})
