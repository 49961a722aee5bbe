import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, inject, it } from 'vitest'
import { startFullGateway } from '../../../support/full-gateway.node.ts'
import { configOf } from '../../../support/gateway.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { startRedis } from '../../../support/redis.ts'
import { serverError } from '../../../support/upstream/index.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'

const postgresUrl = inject('postgresUrl')
const upstream = upstreamClient(inject('upstreamUrl'))

interface Health {
  readonly deployments: readonly Record<string, unknown>[]
}

describe.skipIf(!postgresUrl || !inject('redisUrl'))('the clock of Node', () => {
  it('has idle deployments checked once an interval, by one of two processes, until they stop', async () => {
    const redis = await startRedis()
    const settings = `
general_settings: { database_url: '${await preparedDatabase(postgresUrl)}', redis_url: '${redis?.url}', health_check_interval: 1 }`
    const yaml = `${configOf(`${upstream.url}/of-timers`, { group: ['timers-well'] }, settings)}
  - model_name: group
    deployment_id: timers-dead
    gateway_params: { model: openai-compatible/timers-dead, api_base: '${upstream.url}/of-timers-dead/v1' }
`
    await upstream.script('/of-timers-dead/', [serverError()])
    const gateways = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
    try {
      const since = performance.now()
      await wait(3500)
      await upstream.until('/of-timers/', (calls) => calls.length >= 2)
      const seconds = (performance.now() - since) / 1000
      const looks = (await upstream.calls('/of-timers/')).map(({ method, path }) => `${method} ${path}`)
      expect(looks.length).toBeLessThanOrEqual(seconds + 1.5)
      expect(new Set(looks)).toEqual(new Set(['GET /of-timers/v1/models']))

      const { deployments } = (await (await gateways[1].fetch('/health/deployments')).json()) as Health
      const [well, dead] = ['timers-well', 'timers-dead'].map((id) => deployments.find((d) => d.deployment_id === id))
      expect(well).toMatchObject({ state: 'healthy', last_success_at: expect.any(String), avg_latency_ms: null })
      expect(dead).toMatchObject({ state: 'cooling', last_error: 'provider_error', last_success_at: null })

      // No client has met the dead one, and none does.
      for (let turn = 0; turn < 6; turn++) {
        const answer = await gateways[0].chat({ model: 'group', messages: [{ role: 'user', content: 'Hello' }] })
        expect(answer.headers.get('x-gateway-deployment')).toBe('timers-well')
        expect(answer.headers.get('x-gateway-attempts')).toBe('1')
      }
      const page = await (await gateways[0].fetch('/metrics')).text()
      expect(page).toMatch(/gateway_requests_total\{[^}]*status_code="200"[^}]*\} 6\n/)
      expect(page).not.toMatch(/status_code="502"/)
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.close()))
      await redis?.stop()
    }
    const before = (await upstream.calls('/of-timers')).length
    await wait(1500)
    expect((await upstream.calls('/of-timers')).length).toBe(before)
  })
})
