import { beforeAll, describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { type Exposition, parsePrometheus } from '../support/prometheus.ts'
import { serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]
let page: Exposition

const gateway = withGateway(() => {
  const text = configuration({
    router_settings: { retry_after: 0.01, num_retries: 1 },
    gateway_settings: { fallbacks: [{ failing: ['serving'] }] },
    model_list: [
      deployment(upstream.url, 'failing', 'events-failing'),
      deployment(upstream.url, 'serving', 'events-serving'),
    ],
  })
  return text
})
beforeAll(async () => {
  await upstream.script('events-failing', [serverError()])
  for (const model of ['failing', 'serving', 'absent']) await (await gateway.chat({ model, messages })).text()
  await gateway.idle()
  page = parsePrometheus(await (await gateway.fetch('/metrics')).text())
})

describe('Events', () => {
  it('1. fallback events are recorded when a call is retried or failed over, and read through GET /health/fallback-events', async () => {
    const answer = (await (await gateway.fetch('/health/fallback-events')).json()) as { events: { success: boolean }[] }
    const events = answer.events.toSorted((one, other) => Number(one.success) - Number(other.success))
    expect(events).toEqual([
      {
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
        source_model: 'failing',
        target_model: 'failing',
        error_classification: 'provider_error',
        success: false,
        call_id: expect.stringMatching(/^call_/),
      },
      expect.objectContaining({ source_model: 'failing', target_model: 'serving', success: true }),
    ])
  })

  describe('4. metrics at `/metrics`', () => {
    it.each([
      ['gateway_requests_total', 'counter'],
      ['gateway_request_failures_total', 'counter'],
      ['gateway_input_tokens_total', 'counter'],
      ['gateway_output_tokens_total', 'counter'],
      ['gateway_cache_hit_total', 'counter'],
      ['gateway_cache_miss_total', 'counter'],
      ['gateway_request_total_latency_seconds', 'histogram'],
      ['gateway_llm_api_latency_seconds', 'histogram'],
      ['gateway_deployment_state', 'gauge'],
      ['gateway_deployment_active_requests', 'gauge'],
      ['gateway_deployment_cooldown', 'gauge'],
    ])('%s: %s', (name, type) => {
      expect(page.families.get(name)).toMatchObject({ type })
      expect(page.families.get(name)?.samples.length).toBeGreaterThan(0)
    })

    it.each([
      ['gateway_spend_total', 'counter'],
      ['gateway_prompt_resolutions_total', 'counter'],
      ['gateway_prompt_resolution_latency_seconds', 'histogram'],
      ['gateway_audit_queue_depth', 'gauge'],
      ['gateway_audit_write_failures_total', 'counter'],
      ['gateway_audit_events_dropped_total', 'counter'],
      ['gateway_audit_ingestion_latency_seconds', 'histogram'],
    ])('%s: %s, on the page before anything has happened', (name, type) => {
      expect(page.families.get(name)).toMatchObject({ type })
    })

    it('gateway_requests_total counts every call once, however many attempts it took', () => {
      expect(page.total('gateway_requests_total')).toBe(3)
      expect(page.total('gateway_requests_total', { status_code: '200' })).toBe(2)
    })

    it('gateway_request_failures_total is by error type', () => {
      expect(page.total('gateway_request_failures_total')).toBe(1)
      expect(page.total('gateway_request_failures_total', { error_type: 'not_found_error' })).toBe(1)
    })

    it('gateway_request_total_latency_seconds is end to end, gateway_llm_api_latency_seconds the provider only', () => {
      const whole = page.total('gateway_request_total_latency_seconds_sum', { model: 'serving' })
      const provider = page.total('gateway_llm_api_latency_seconds_sum', { model: 'serving' })
      expect(provider).toBeGreaterThan(0)
      expect(whole).toBeGreaterThan(provider)
    })

    it('gateway_deployment_state and gateway_deployment_cooldown tell a cooled deployment from a healthy one', () => {
      expect(page.value('gateway_deployment_state', { deployment: 'events-failing' })).toBe(2)
      expect(page.value('gateway_deployment_state', { deployment: 'events-serving' })).toBe(0)
      expect(page.value('gateway_deployment_cooldown', { deployment: 'events-failing' })).toBeGreaterThan(0)
      expect(page.value('gateway_deployment_cooldown', { deployment: 'events-serving' })).toBe(0)
    })

    it('gateway_deployment_active_requests is per deployment', () => {
      expect(page.value('gateway_deployment_active_requests', { deployment: 'events-serving' })).toBe(0)
    })
  })
})
