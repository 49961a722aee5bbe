import { expect, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { countedMetrics } from '../../src/telemetry/metrics/counted-metrics.ts'
import { processCounters } from '../../src/telemetry/metrics/scopes.ts'
import { telemetry } from '../../src/telemetry/telemetry.ts'
import { finishedCall } from '../support/finished-calls.ts'
import { keptRecords } from '../support/kept-records.ts'

it('a call of a batch is counted and logged, but whoever records its item writes its row of the ledger', async () => {
  const { delivery, records } = keptRecords()
  const lines: Record<string, unknown>[] = []
  const counters = processCounters(countedMetrics(loadConfig('', {})))
  const { emit } = telemetry(
    jsonLog('info', (line) => void lines.push(JSON.parse(line))),
    counters,
    delivery,
  )
  const repeated = finishedCall({ batchId: 'batch_1', repeats: true })
  const final = finishedCall({ batchId: 'batch_1' })
  const single = finishedCall()
  for (const event of [repeated, final, single]) emit(event)

  expect(records.map(({ entry }) => entry)).toEqual([single])
  expect(lines.map(({ callId, batchId, repeats }) => [callId, batchId, repeats])).toEqual([
    [repeated.callId, 'batch_1', true],
    [final.callId, 'batch_1', undefined],
    [single.callId, undefined, undefined],
  ])
  const requests = Object.entries((await counters.all()) ?? {}).filter(([series]) =>
    series.startsWith('gateway_requests_total'),
  )
  expect(requests.map(([, count]) => count)).toEqual([3])
})
