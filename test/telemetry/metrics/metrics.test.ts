import { describe, expect, it } from 'vitest'
import type { Usage } from '../../../src/modes/usage.ts'
import { knownSignals } from '../../../src/routing/known-signals.ts'
import type { CallFinished, ToolCalled } from '../../../src/telemetry/events.ts'
import { type CallLabel, withCallLabels } from '../../../src/telemetry/metrics/call-labels.ts'
import { counters } from '../../../src/telemetry/metrics/counters.ts'
import { families } from '../../../src/telemetry/metrics/families.ts'
import { gauges } from '../../../src/telemetry/metrics/gauges.ts'
import { metrics } from '../../../src/telemetry/metrics/index.ts'
import { render } from '../../../src/telemetry/metrics/render.ts'
import { topics } from '../../../src/telemetry/topics.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { parsePrometheus } from '../../support/prometheus.ts'

const page = (counted: Record<string, number>) => parsePrometheus(render(families(metrics, counted)))

describe('metrics', () => {
  it('add money up exactly, and print it in dollars', () => {
    const own = counters(metrics)
    for (let call = 0; call < 1000; call++) own.count(finishedCall({ costNano: 100_000_001 }))
    own.count(finishedCall({ costNano: undefined }))
    const printed = page(own.all())
    expect(printed.total('gateway_spend_total')).toBe(100.000001)
    expect(printed.value('gateway_unpriced_calls_total', { model: 'big', key_id: 'key-1' })).toBe(1)
  })

  it('tell clients that left apart from answers that failed or broke off', () => {
    const own = counters(metrics)
    const api = { errorType: 'api_error' }
    own.count(finishedCall({ ...api, ending: 'client_closed', status: 499 }))
    own.count(finishedCall({ ...api, ending: 'truncated', status: 200 }))
    own.count(finishedCall({ ...api, ending: 'failed', status: 502 }))
    const printed = page(own.all())
    expect(printed.total('gateway_request_failures_total', { error_type: 'client_closed' })).toBe(1)
    expect(printed.total('gateway_request_failures_total', { error_type: 'api_error' })).toBe(2)
  })

  it('tell a store that adds up isolates only what has grown, each observation by its own bucket', () => {
    const own = counters(metrics)
    const total: Record<string, number> = {}
    for (const totalMs of [4, 30, 30, 700_000]) {
      own.count(finishedCall({ totalMs }))
      const grown = own.drain()
      const latency = Object.keys(grown).filter((name) => name.startsWith('gateway_request_total_latency_seconds'))
      expect(latency.map((name) => name.replace(/\{.*(le=".*").*/, '$1').replace(/\{.*/, ''))).toEqual([
        expect.stringContaining('_bucket'),
        'gateway_request_total_latency_seconds_sum',
      ])
      for (const [name, value] of Object.entries(grown)) total[name] = (total[name] ?? 0) + value
    }
    expect(own.drain()).toEqual({})
    expect(page(total).families).toEqual(page(own.all()).families)
    const upTo = (le: string) => page(total).value('gateway_request_total_latency_seconds_bucket', { le })
    expect(['0.005', '0.01', '0.025', '0.05', '600', '+Inf'].map(upTo)).toEqual([1, 1, 1, 3, 3, 4])
    expect(page(total).value('gateway_request_total_latency_seconds_count')).toBe(4)
    expect(page(total).value('gateway_request_total_latency_seconds_sum')).toBeCloseTo(700.064)
  })

  it('count a call that differs from another in one label alone in series of its own', () => {
    const changes: Partial<CallFinished>[] = [
      {},
      { model: 'small' },
      { provider: 'other' },
      { teamId: 'team-2' },
      { keyId: 'key-2' },
      { status: 502 },
      { ending: 'failed', errorType: 'api_error', costNano: undefined },
      { ending: 'failed', errorType: 'rate_limit_error', usage: undefined },
    ]
    const calls = [...changes, ...changes, ...changes.toReversed()].map((change) => finishedCall(change))
    const together = counters(metrics)
    const alone: Record<string, number> = {}
    for (const call of calls) {
      together.count(call)
      const own = counters(metrics)
      own.count(call)
      for (const [name, value] of Object.entries(own.drain())) alone[name] = (alone[name] ?? 0) + value
    }
    expect(together.drain()).toEqual(alone)
  })

  it('have the labels of calls that are chosen, and count what differs in others together', () => {
    const chosen: CallLabel[] = ['deployment', 'endpoint', 'organization', 'user']
    const labelled = withCallLabels(metrics, chosen)
    const own = counters(labelled)
    own.count(finishedCall({ keyId: 'key-1', model: 'big', organizationId: 'org-1', userId: 'user-1' }))
    own.count(finishedCall({ keyId: 'key-2', model: 'small', organizationId: 'org-1', userId: 'user-1' }))
    own.count(finishedCall({ organizationId: 'org-2', userId: 'user-1', status: 502, errorType: 'api_error' }))
    own.count({
      ...{ type: 'request.finished', at: '2026-03-04T05:06:07.089Z', requestId: 'r', method: 'POST', totalMs: 1 },
      ...{ route: '/v1/embeddings', modelCall: true, keyId: 'key-3', teamId: '', organizationId: 'org-3', userId: '' },
      ...{ status: 429, errorType: 'rate_limit_error', code: 'key_rpm_exceeded', scope: 'key_rpm' },
    })
    const printed = parsePrometheus(render(families(labelled, own.all())))
    const labelsOf = (name: string) =>
      printed.families.get(name)?.samples.map(({ labels, value }) => ({ ...labels, value }))
    const of = (organization: string, user: string, status_code: string, value: number) => ({
      ...{ deployment: 'big-1', endpoint: '/v1/chat/completions', organization, user, status_code, value },
    })
    expect(labelsOf('gateway_requests_total')).toEqual([
      { ...of('org-3', '', '429', 1), deployment: '', endpoint: '/v1/embeddings' },
      of('org-1', 'user-1', '200', 2),
      of('org-2', 'user-1', '502', 1),
    ])
    expect(labelsOf('gateway_cache_hit_total')).toEqual([
      { deployment: '', endpoint: '', organization: '', user: '', value: 0 },
    ])
    expect(labelsOf('gateway_request_total_latency_seconds')?.at(-1)).toEqual({ value: 3 })
    expect(labelsOf('gateway_fields_dropped_total')).toEqual([{ endpoint: '', provider: '', field: '', value: 0 }])
    const none = withCallLabels(metrics, [])
    const counted = counters(none)
    for (const keyId of ['a', 'b']) counted.count(finishedCall({ keyId, costNano: 1e9 }))
    const unlabelled = parsePrometheus(render(families(none, counted.all())))
    expect(unlabelled.families.get('gateway_spend_total')?.samples).toEqual([
      { name: 'gateway_spend_total', labels: {}, value: 2 },
    ])
  })

  it('have a series at 0 for what has not happened yet', () => {
    const printed = page({})
    for (const name of [
      'gateway_cache_hit_total',
      'gateway_cache_miss_total',
      'gateway_prompt_resolutions_total',
      'gateway_audit_write_failures_total',
      'gateway_audit_events_dropped_total',
    ]) {
      expect(printed.value(name)).toBe(0)
    }
    // The first of a topic would be no growth to an alert, were its series not there before.
    for (const { name: topic } of topics) {
      expect(printed.value('gateway_records_dropped_total', { topic })).toBe(0)
      expect(printed.value('gateway_records_dead_total', { topic })).toBe(0)
    }
    expect(printed.families.get('gateway_prompt_resolution_latency_seconds')).toMatchObject({ type: 'histogram' })
    expect(printed.families.get('gateway_audit_ingestion_latency_seconds')).toMatchObject({ type: 'histogram' })
  })

  it('count hits and misses of the cache', () => {
    const own = counters(metrics)
    for (const cache of ['hit', 'hit', 'miss', 'off'] as const) own.count(finishedCall({ cache }))
    const printed = page(own.all())
    expect(printed.total('gateway_cache_hit_total')).toBe(2)
    expect(printed.total('gateway_cache_miss_total')).toBe(1)
  })

  it('tell of records that were dropped, repeated or late, and of those of the audit by their own names', () => {
    const own = counters(metrics)
    for (const topic of ['ledger', 'audit']) {
      own.count({ type: 'records.dropped', topic, records: 3, waitedMs: 0 })
      own.count({ type: 'records.failed', topic, records: 50, waitedMs: 0 })
      own.count({ type: 'records.written', topic, records: 50, waitedMs: 300 })
    }
    const printed = page(own.all())
    expect(printed.value('gateway_records_dropped_total', { topic: 'ledger' })).toBe(3)
    expect(printed.value('gateway_record_write_failures_total', { topic: 'ledger' })).toBe(1)
    expect(printed.value('gateway_audit_events_dropped_total')).toBe(3)
    expect(printed.value('gateway_audit_write_failures_total')).toBe(1)
    expect(printed.value('gateway_audit_ingestion_latency_seconds_sum')).toBeCloseTo(0.3)
  })

  it('count calls of tools by server, tool and result, and their time by server', () => {
    const own = counters(metrics)
    const called = (result: ToolCalled['result'], ms: number): ToolCalled => ({
      ...{ type: 'tool.called', at: '2026-11-22T20:50:00.000Z', callId: 'call_1', requestId: 'r-1', result, ms },
      ...{ server: 'docs', tool: 'search', keyId: 'key-1', teamId: '' },
    })
    for (const event of [called('ok', 40), called('ok', 60), called('timeout', 30_000)]) own.count(event)
    const printed = page(own.all())
    const calls = (result: string) =>
      printed.value('gateway_tool_calls_total', { server: 'docs', tool: 'search', result })
    expect(['ok', 'timeout'].map(calls)).toEqual([2, 1])
    expect(printed.value('gateway_tool_call_seconds_count', { server: 'docs' })).toBe(3)
    expect(printed.value('gateway_tool_call_seconds_sum', { server: 'docs' })).toBeCloseTo(30.1)
  })

  describe('have at most 2,000 series each', () => {
    const CALLS = 2200
    const seriesOf = (printed: ReturnType<typeof page>) =>
      [...printed.families.values()].map(({ name, samples }) => [name, samples.length] as const)

    it('in one process, and still count every call', () => {
      const own = counters(metrics)
      for (let call = 0; call < CALLS; call++) own.count(finishedCall({ keyId: `key-${call}`, model: `model-${call}` }))
      const printed = page(own.all())
      for (const [name, count] of seriesOf(printed)) expect([name, count <= 2000]).toEqual([name, true])
      expect(printed.total('gateway_requests_total')).toBe(CALLS)
      expect(printed.value('gateway_requests_total', { key_id: 'other' })).toBe(CALLS - 1999)
      expect(printed.total('gateway_request_total_latency_seconds_count')).toBe(CALLS)
    })

    it('also where one of them is named as the rest is', () => {
      const chosen = withCallLabels(metrics, ['team'])
      const own = counters(chosen)
      own.count(finishedCall({ teamId: 'other' }))
      for (let call = 0; call < CALLS; call++) own.count(finishedCall({ teamId: `team-${call}` }))
      const printed = parsePrometheus(render(families(chosen, own.all())))
      expect(printed.total('gateway_requests_total')).toBe(CALLS + 1)
      const { outputTokens } = finishedCall().usage as Usage
      expect(printed.total('gateway_output_tokens_total')).toBe((CALLS + 1) * outputTokens)
    })

    it('of deployments, of which the rest is told together', () => {
      const signals = Array.from({ length: CALLS }, (_, index) => ({
        ...knownSignals(() => 0).of(''),
        deployment: `deployment-${index}`,
        active: 1,
        cooledUntil: index === CALLS - 1 ? 60_000 : 0,
      }))
      const printed = parsePrometheus(render(gauges(signals, 0)))
      expect(seriesOf(printed).map(([, count]) => count)).toEqual([2000, 2000, 2000])
      expect(printed.total('gateway_deployment_active_requests')).toBe(CALLS)
      expect(printed.value('gateway_deployment_state', { deployment: 'other' })).toBe(2)
      expect(printed.value('gateway_deployment_cooldown', { deployment: 'other' })).toBe(60)
      expect(seriesOf(parsePrometheus(render(gauges(signals.slice(0, 2000), 0))))[0]).toContain(2000)
    })

    it('over isolates that do not know each other, and still count every call', () => {
      const counted: Record<string, number> = {}
      for (const isolate of [1, 2, 3]) {
        const own = counters(metrics)
        for (let call = 0; call < 800; call++) {
          own.count(finishedCall({ keyId: `key-${isolate}-${call}`, model: `m-${isolate}-${call % 80}`, totalMs: 400 }))
        }
        for (const [name, value] of Object.entries(own.drain())) counted[name] = (counted[name] ?? 0) + value
      }
      const printed = page(counted)
      for (const [name, count] of seriesOf(printed)) expect([name, count <= 2000]).toEqual([name, true])
      expect(printed.total('gateway_requests_total')).toBe(2400)
      expect(printed.total('gateway_request_total_latency_seconds_count')).toBe(2400)
      expect(printed.total('gateway_request_total_latency_seconds_bucket', { le: '0.25' })).toBe(0)
      expect(printed.total('gateway_request_total_latency_seconds_bucket', { le: '+Inf' })).toBe(2400)
    })
  })
})
