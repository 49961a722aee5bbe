import { createHook } from 'node:async_hooks'
import { jsonLog } from '../../../src/lib/log.ts'
import { sharedTimers } from '../../../src/lib/timers/shared-timers.node.ts'
import { usageOf } from '../../../src/modes/usage.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { lineWriter } from '../../../src/runtimes/node/process/line-writer.node.ts'
import { sqlOver } from '../../../src/stores/sql/adapters/wire.ts'
import { bufferedDelivery } from '../../../src/telemetry/delivery/buffered-delivery.ts'
import type { CallFinished } from '../../../src/telemetry/events.ts'
import { countedMetrics } from '../../../src/telemetry/metrics/counted-metrics.ts'
import { processCounters } from '../../../src/telemetry/metrics/scopes.ts'
import { telemetry } from '../../../src/telemetry/telemetry.ts'
import { upToDate } from '../../../src/telemetry/up-to-date.ts'
import { finishedCall } from '../../support/finished-calls.ts'

/** What it costs that a call is told of: its counters, its line of the log and its row of the ledger. */
export interface ToldCosts {
  /** Bytes by which the heap grows with a call, without the event itself. */
  readonly bytes: number
  readonly timers: number
}

const WARM_CALLS = 20_000
const CALLS = 2000
const KEYS = 4

/** The readers of events as a Node process has them; only what a database or a file would do is left out. */
function readers() {
  const lines = lineWriter({ write: () => true, writableLength: 0 })
  const log = jsonLog('info', lines.write, Date.now, {}, lines)
  const counters = processCounters(countedMetrics(loadConfig('', {})))
  const answer = { command: 'SELECT', rowCount: 0, fields: [], rows: [] }
  const sql = sqlOver({ run: async () => answer, runAll: async () => [], async close() {} })
  const delivery = bufferedDelivery({ sql, log, report() {} })
  const { emit, catchUp } = telemetry({ log, counters, delivery, timers: sharedTimers() })
  return { emit, delivery: upToDate({ counters, delivery }, catchUp).delivery }
}

/** An answered call, as the pipeline tells of nearly every one. */
function call(number: number): CallFinished {
  const keyId = `key-${number % KEYS}`
  const usage = usageOf({ inputTokens: 38 + (number % 64), outputTokens: 120 + (number % 32) })
  const [costNano, heldNano] = [51_800 + (number % 1024), 130_000]
  const ms = (least: number) => Math.round(1000 * (least + 10 * Math.random())) / 1000
  const where = { deployment: 'big-1', provider: 'openai', group: 'big' }
  return finishedCall({
    ...{ keyId, usage, costNano, heldNano, at: new Date().toISOString(), deployment: where.deployment },
    charges: [`team:team-1@30d`, `key:${keyId}@30d`].map((subject) => ({
      subject,
      period: '2026-11-01T00:00:00.000Z',
    })),
    tried: [
      {
        ...{
          ...where,
          result: 'answered',
          error: '',
          message: undefined,
          upstreamStatus: 200,
          upstreamMessage: undefined,
        },
        ...{ turn: 1, usage, costNano, startedMs: ms(0), firstTokenMs: ms(5), totalMs: ms(5) },
      },
    ],
    ...{ overheadMs: ms(0), firstTokenMs: ms(5), upstreamMs: ms(5), totalMs: ms(5) },
  })
}

async function measure(): Promise<ToldCosts> {
  const { emit, delivery } = readers()
  const calls = (count: number) => Array.from({ length: count }, (_, index) => call(index))
  for (const one of calls(WARM_CALLS)) emit(one)
  await delivery.drain(5000)

  const measured = calls(CALLS)
  let timers = 0
  const hook = createHook({
    init(_id, type) {
      if (type === 'Timeout') timers += 1
    },
  }).enable()
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  for (const one of measured) emit(one)
  await delivery.drain(5000)
  const bytes = (process.memoryUsage().heapUsed - before) / CALLS
  hook.disable()
  return { bytes, timers: timers / CALLS }
}

process.stdout.write(JSON.stringify(await measure()))
process.exit(0)
