import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { jsonLog } from '../../../src/lib/log.ts'
import { folderBacklogs } from '../../../src/stores/backlog/folder.node.ts'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../../src/stores/sql/schema/apply-schema.ts'
import { bufferedDelivery } from '../../../src/telemetry/delivery/buffered-delivery.ts'
import { ledger } from '../../../src/telemetry/ledger.ts'
import { keptFirst, topics } from '../../../src/telemetry/topics.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'

/** What is left of calls at a steady rate while PostgreSQL stands still: `node test/system/scale/outage.ts 1000 75`, calls a
 *  second and seconds; a third value is the most bytes of the backlog. */
const [rate = 1000, outageSeconds = 75, maxBytes = 1024 ** 3] = process.argv.slice(2).map(Number)
const BEFORE_SECONDS = 5
const AFTER_SECONDS = 10
const COST_NANO = 50_001

const server = await startPostgres()
if (!server) throw new Error('PostgreSQL is not installed')
const folder = mkdtempSync(join(tmpdir(), 'gateway-outage-'))
const sql = nodePostgresSql({ connectionString: await freshDatabase(server.url) })
const print = (line: string) => process.stdout.write(`${line}\n`)
const moved: Record<string, number> = {}

try {
  await applySchema(sql, readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8'))
  const log = jsonLog('error', (line) => process.stderr.write(`${line}\n`))
  const backlogs = folderBacklogs({ folder, maxBytes, reserved: keptFirst, log })
  const delivery = bufferedDelivery({
    sql,
    log,
    topics,
    backlogs,
    report: ({ type, topic, records }) => {
      moved[`${topic} ${type}`] = (moved[`${topic} ${type}`] ?? 0) + records
    },
  })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const begunAt = performance.now()
  const seconds = BEFORE_SECONDS + outageSeconds + AFTER_SECONDS
  let calls = 0
  let frozen: boolean | undefined
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - begunAt) / 1000) {
    for (; calls < elapsed * rate; calls++) {
      delivery.deliver(
        ledger,
        finishedCall({
          callId: `call_${String(calls).padStart(9, '0')}`,
          at: new Date().toISOString(),
          keyId: `key-${calls % 50}`,
          model: `model-${calls % 7}`,
          tags: calls % 4 === 0 ? ['x'] : [],
          costNano: COST_NANO,
          charges: [{ subject: `key:key-${calls % 50}`, period: '' }],
        }),
      )
    }
    if (frozen === undefined && elapsed > BEFORE_SECONDS) {
      frozen = true
      await server.freeze()
    }
    if (frozen && elapsed > BEFORE_SECONDS + outageSeconds) {
      frozen = false
      await server.thaw()
    }
    await wait(5)
  }
  const waitedFrom = performance.now()
  while (delivery.depth('ledger') + delivery.depth('ledger_sums') > 0) await wait(50)
  const lost = await delivery.drain(30_000)
  const caughtUpMs = performance.now() - waitedFrom

  const one = async (text: string) => Object.values((await sql.query({ sql: text, parameters: [] })).rows[0] ?? {})[0]
  print(`${calls} calls, ${(calls * COST_NANO) / 1e9} US dollars, ${outageSeconds} s without a database; lost ${lost}`)
  print(
    `caught up ${(caughtUpMs / 1000).toFixed(1)} s after the last; loop delay at most ${Math.round(delay.max / 1e6)} ms`,
  )
  print(`records: ${JSON.stringify(moved)}`)
  print(`rows           ${await one('SELECT count(*) FROM gateway_spend')}`)
  print(`folded calls   ${await one('SELECT coalesce(sum(calls), 0) FROM gateway_spend_folded')}`)
  for (const [name, text] of [
    ['total', "SELECT sum(cost_nano) FROM gateway_spend_total WHERE dimension = 'all' AND grain = 'hour'"],
    ['by key', "SELECT sum(cost_nano) FROM gateway_spend_total WHERE dimension = 'key_id' AND grain = 'day'"],
    ['rollup', "SELECT sum(cost_nano) FROM gateway_spend_rollup WHERE grain = 'day'"],
    ['budgets', 'SELECT sum(spent_nano) FROM gateway_budget'],
  ] as const) {
    const nano = await one(text)
    print(
      `${name.padEnd(14)} ${nano} nano-dollars${BigInt(String(nano)) === BigInt(calls * COST_NANO) ? ', exact' : ': WRONG'}`,
    )
  }
  await backlogs.close()
} finally {
  await sql.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
