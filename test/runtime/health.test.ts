import { describe, expect, inject, it } from 'vitest'
import { configOf } from '../support/gateway.ts'
import { rateLimited, serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const [first, second, third] = ['a', 'b', 'c'].map((name) => `health-${run}-${name}`) as [string, string, string]
const messages = [{ role: 'user', content: 'Hello' }]

const gateway = withGateway(() => {
  const settings = `
router_settings: { routing_strategy: priority-based-routing, num_retries: 1, cooldown_time: 30 }
gateway_settings: { fallbacks: [{ main: [spare] }] }
`
  const yaml = configOf(upstream.url, { main: [first, second], spare: [third] }, settings)
  // Priorities in the order of the list.
  const entries = yaml.split(`deployment_id: ${second}\n`)
  return entries.join(`deployment_id: ${second}\n    model_info: { priority: 1, rpm_limit: 10 }\n`)
})

describe('GET /health/fallback-events', () => {
  it('tells one event for each failed attempt that led to another, and how that one ended', async () => {
    await upstream.script(first, [rateLimited()])
    await upstream.script(second, [serverError()])
    expect((await gateway.chat({ model: 'main', messages })).status).toBe(200)
    await gateway.idle()
    const body = await (await gateway.fetch('/health/fallback-events')).json()
    expect(body).toEqual({
      events: [
        {
          timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
          source_model: 'main',
          target_model: 'spare',
          error_classification: 'provider_error',
          success: true,
          call_id: expect.stringMatching(/^call_/),
        },
        {
          timestamp: expect.any(String),
          source_model: 'main',
          target_model: 'main',
          error_classification: 'rate_limit',
          success: false,
          call_id: expect.stringMatching(/^call_/),
        },
      ],
    })
    const one = (await (await gateway.fetch('/health/fallback-events?limit=1')).json()) as { events: unknown[] }
    expect(one.events).toHaveLength(1)
  })

  it('is silent about what is older than a week, while newer events keep coming', async () => {
    const age = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    const entries = [8, 6].map((days) => ({
      log: 'fallback-events',
      text: JSON.stringify({ timestamp: age(days), source_model: `${days}`, target_model: 'x' }),
      keep: 1000,
    }))
    const nothing = { slots: [], budgets: [], outcomes: [], counters: {} }
    await gateway.store.settle({ callId: 'aged', ...nothing, entries })
    const { events } = (await (await gateway.fetch('/health/fallback-events?limit=1000')).json()) as {
      events: { source_model: string }[]
    }
    const told = events.map(({ source_model }) => source_model)
    expect(told).toContain('6')
    expect(told).not.toContain('8')
  })

  it('wants a key and a sensible limit', async () => {
    expect((await gateway.fetch('/health/fallback-events', { headers: { authorization: '' } })).status).toBe(401)
    const response = await gateway.fetch('/health/fallback-events?limit=many')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: 'limit' } })
  })
})

describe('GET /health/deployments', () => {
  it('says how each deployment is doing', async () => {
    const report = (await (await gateway.fetch('/health/deployments')).json()) as {
      deployments: { deployment_id: string }[]
    }
    expect(report).toMatchObject({
      status: 'degraded',
      healthy_count: 1,
      total_count: 3,
      store: { mode: 'local', degraded_mode: 'fail_open' },
      notes: [],
    })
    const of = (id: string) => report.deployments.find(({ deployment_id }) => deployment_id === id)
    expect(of(first)).toMatchObject({
      model_name: 'main',
      provider: 'openai-compatible',
      state: 'cooling',
      consecutive_failures: 1,
      last_error: 'rate_limit',
      active_requests: 0,
    })
    expect(of(second)).toMatchObject({ state: 'cooling', last_error: 'provider_error', utilization: 0.1 })
    expect(of(third)).toMatchObject({
      state: 'healthy',
      last_error: null,
      cooldown_until: null,
      last_success_at: expect.any(String),
    })
  })

  it('takes a model, and wants a key', async () => {
    const report = (await (await gateway.fetch('/health/deployments?model=spare')).json()) as { total_count: number }
    expect(report.total_count).toBe(1)
    expect((await gateway.fetch('/health/deployments', { headers: { authorization: '' } })).status).toBe(401)
  })
})
