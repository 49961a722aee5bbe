import { expect, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import { separateTimers } from '../../src/lib/timers/timers.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { countedMetrics } from '../../src/telemetry/metrics/counted-metrics.ts'
import { processCounters } from '../../src/telemetry/metrics/scopes.ts'
import { telemetry } from '../../src/telemetry/telemetry.ts'
import { upToDate } from '../../src/telemetry/up-to-date.ts'
import { finishedCall } from '../support/finished-calls.ts'
import { keptRecords } from '../support/kept-records.ts'

it('a call of a batch is counted once and logged with each try, but whoever records its item writes its row of the ledger', async () => {
  const { delivery, records } = keptRecords()
  const lines: Record<string, unknown>[] = []
  const counters = processCounters(countedMetrics(loadConfig('', {})))
  const { emit } = telemetry({
    log: jsonLog('info', (line) => void lines.push(JSON.parse(line))),
    counters,
    delivery,
  })
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
  expect(requests.map(([, count]) => count)).toEqual([2])
})

it('a reader that fails keeps no event from the others', () => {
  const { delivery, records } = keptRecords()
  const lines: Record<string, unknown>[] = []
  const counters = processCounters(countedMetrics(loadConfig('', {})))
  const failing: typeof counters = {
    ...counters,
    count(event) {
      if (event.type === 'call.finished' && event.status === 418) throw new RangeError('no such status')
      counters.count(event)
    },
  }
  const { emit, catchUp } = telemetry({
    log: jsonLog('info', (line) => void lines.push(JSON.parse(line))),
    counters: failing,
    delivery,
    timers: separateTimers,
  })
  const calls = [finishedCall(), finishedCall({ status: 418 }), finishedCall()]
  for (const call of calls) emit(call)
  expect([records, lines]).toEqual([[], []])
  catchUp()
  expect(records.map(({ entry }) => entry)).toEqual(calls)
  expect(lines.map(({ event, callId, error }) => [event, callId ?? error])).toEqual([
    ['event.unread', 'RangeError: no such status'],
    ...calls.map(({ callId }) => ['call.finished', callId]),
  ])
})

it('whoever asks the readers finds every event that was emitted before', async () => {
  const { delivery, records } = keptRecords()
  const counters = processCounters(countedMetrics(loadConfig('', {})))
  const counting = { ...delivery, depth: () => records.length }
  const log = jsonLog('silent', () => {})
  const { emit, catchUp } = telemetry({ log, counters, delivery: counting, timers: separateTimers })
  const read = upToDate({ counters, delivery: counting }, catchUp)
  emit(finishedCall())
  expect(read.delivery.depth('ledger')).toBe(1)
  emit(finishedCall())
  const series = Object.entries((await read.counters.all()) ?? {})
  expect(series.find(([name]) => name.startsWith('gateway_requests_total'))?.[1]).toBe(2)
  emit(finishedCall())
  await read.delivery.drain(1)
  expect(records).toHaveLength(3)
})

it('a budget that is below the ledger is told of once more, without another record of it', async () => {
  const { delivery } = keptRecords()
  const told: string[] = []
  const later: (() => void)[] = []
  const spent = [{ subject: 'team:1', period: '', spentNano: 7 }]
  const { emit, raised } = telemetry({
    log: jsonLog('silent', () => {}),
    counters: processCounters(countedMetrics(loadConfig('', {}))),
    delivery,
    raising: {
      store: {
        async raise(budgets) {
          told.push(budgets.map(({ subject, spentNano }) => `${subject} ${spentNano}`).join())
          return told.length === 1 ? budgets : []
        },
      },
      budgets: { spent: async () => [9] },
    },
    timers: { after: (ms, work) => (ms > 3000 ? later.push(work) : 0), stop: () => {} },
  })
  emit({ type: 'records.written', topic: 'ledger', records: 1, waitedMs: 1, spent })
  await expect.poll(() => later.length).toBe(1)
  later[0]?.()
  await expect.poll(() => told.length).toBe(2)
  await raised()
  expect([told, later.length]).toEqual([['team:1 7', 'team:1 9'], 1])
})
