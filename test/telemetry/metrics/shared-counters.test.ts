import { afterEach, expect, it, vi } from 'vitest'
import { metricsPage } from '../../../src/api/health/metrics.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import type { SharedStore } from '../../../src/stores/kv/shared-store.ts'
import { countedMetrics } from '../../../src/telemetry/metrics/counted-metrics.ts'
import { measuring, sharedCounters } from '../../../src/telemetry/metrics/scopes.ts'
import { finishedCall } from '../../support/finished-calls.ts'

afterEach(() => vi.useRealTimers())

it('are told to the shared store once a second, although the clock was set back since', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const store = inProcessStore({ now: Date.now })
  const scope = sharedCounters(countedMetrics(loadConfig('model_list: []', {})), store)
  const deferred: Promise<unknown>[] = []
  const counted = (at: number) => {
    vi.setSystemTime(at)
    scope.count({ type: 'records.dropped', topic: 'audit', records: 1, waitedMs: 0 })
    scope.flush({ defer: (work) => void deferred.push(work) })
    return deferred.length
  }
  const start = Date.now()
  const times = [start, start + 500, start + 1000, start - 3_600_000, start - 3_599_500, start - 3_599_000]
  expect(times.map(counted)).toEqual([1, 1, 2, 3, 3, 4])
})

it('leaves counters out of the page while the shared store is away, so that none seems to begin anew', async () => {
  const kept = inProcessStore({ now: Date.now })
  let isAway = false
  const store: SharedStore = { ...kept, counters: async () => (isAway ? undefined : kept.counters()) }
  const config = loadConfig('model_list: []', {})
  const metrics = countedMetrics(config)
  const scope = sharedCounters(metrics, store)
  const services = {
    config,
    metrics,
    measured: measuring(scope, () => ({ gateway_store_degraded: isAway ? 1 : 0 })),
    registry: { groups: [] },
    store,
    clock: { now: Date.now },
  }
  const page = async () => {
    const answer = await metricsPage.handler({ services, header: () => undefined } as never)
    return String(await new Response((answer as { body: BodyInit }).body).text())
  }
  scope.count({ type: 'records.dropped', topic: 'audit', records: 7, waitedMs: 0 })
  scope.count(finishedCall())
  expect(await page()).toContain('gateway_audit_events_dropped_total 7\n')
  isAway = true
  const away = await page()
  expect(away).not.toMatch(/^gateway_(audit_events|requests|cache)/m)
  expect(away).toContain('gateway_store_degraded 1\n')
  isAway = false
  expect(await page()).toContain('gateway_audit_events_dropped_total 7\n')
})
