import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import type { FoldedCalls } from '../../../../src/stores/sql/spend/spend-folded.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { factsOf } from '../../../../src/telemetry/call-facts.ts'
import { foldedLedger, foldOfCalls } from '../../../../src/telemetry/folded-ledger.ts'
import { ledger } from '../../../../src/telemetry/ledger.ts'
import { SCHEMA } from '../../../support/embedded-database.node.ts'
import { finishedCall } from '../../../support/finished-calls.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

/** The order in which builds of every version lock rows. Another one is a deadlock where two builds run at once. */
const ROWS = [
  'gateway_spend_key_day',
  'gateway_spend_tag_rollup',
  'gateway_spend_served',
  'gateway_spend_rollup',
  'gateway_spend_total',
  'gateway_budget',
  'gateway_key_use',
]
/** The order in which they lock the tables themselves, which matters to an upgrade beside them. */
const SUMS = [
  'gateway_key_use',
  'gateway_budget',
  'gateway_spend_total',
  'gateway_spend_rollup',
  'gateway_spend_served',
  'gateway_spend_tag_rollup',
  'gateway_spend_key_day',
]
const OF_CALLS = ['gateway_spend', 'gateway_spend_tag', 'gateway_spend_past']
const OF_FOLDS = ['gateway_spend_fold', 'gateway_spend_folded']
const TABLES = [...OF_CALLS, ...OF_FOLDS, ...SUMS]

const postgresUrl = inject('postgresUrl')

describe.skipIf(postgresUrl === '')('what a write of calls locks', () => {
  let sql: Sql
  let holder: pg.Client
  let watcher: pg.Client
  beforeAll(async () => {
    const connectionString = await preparedDatabase(postgresUrl)
    sql = nodePostgresSql({ connectionString, connections: 1 })
    await write()
    holder = new pg.Client({ connectionString })
    watcher = new pg.Client({ connectionString })
    await Promise.all([holder.connect(), watcher.connect()])
  })
  afterAll(() => Promise.all([sql?.close(), holder?.end(), watcher?.end()]))

  const call = (callId?: string) =>
    finishedCall({ tags: ['x'], charges: [{ subject: 'key:key-1', period: '' }], ...(callId && { callId }) })
  const write = (callId?: string) => ledger.write(sql, [call(callId)])
  function writeFolded() {
    const fold = foldOfCalls()
    fold.add(factsOf(call()))
    return foldedLedger.write(sql, fold.end() as readonly FoldedCalls[])
  }
  const upgrade = () => applySchema(sql, `${SCHEMA}\n-- ${Math.random()}`)

  /** What is locked while `run` waits for what the holder holds. */
  async function whileHeld<Found>(hold: string, run: () => Promise<unknown>, look: (pid: number) => Promise<Found>) {
    await holder.query(`BEGIN; ${hold}`)
    const running = run()
    try {
      await expect.poll(waiting).toBeGreaterThan(0)
      return await look(await waiting())
    } finally {
      await holder.query('ROLLBACK')
      await running
    }
  }
  /** The process that waits for a lock; 0 if none does. */
  async function waiting(): Promise<number> {
    const { rows } = await watcher.query(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )
    return rows[0]?.pid ?? 0
  }
  async function lockedRows(): Promise<string[]> {
    const locked: string[] = []
    for (const table of ROWS) {
      const { rows } = await watcher.query(
        `SELECT (SELECT count(*) FROM ${table}) > (SELECT count(*) FROM (SELECT FROM ${table} FOR UPDATE SKIP LOCKED) AS free) AS yes`,
      )
      if (rows[0].yes) locked.push(table)
    }
    return locked
  }
  async function lockedTables(pid: number): Promise<string[]> {
    const { rows } = await watcher.query(
      `SELECT relation::regclass::text AS name FROM pg_locks WHERE pid = $1 AND granted
        AND locktype = 'relation' AND mode = ANY($2) AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [pid, ['RowExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']],
    )
    const names = new Set(rows.map(({ name }) => name))
    return TABLES.filter((table) => names.has(table))
  }

  it.each(ROWS.entries().toArray())('the rows of sums: %i, %s', async (index, table) => {
    for (const run of [write, writeFolded]) {
      const locked = await whileHeld(`SELECT FROM ${table} FOR UPDATE`, run, lockedRows)
      expect(locked, run.name).toEqual(ROWS.slice(0, index + 1))
    }
  })

  it('the rows of calls before all others', async () => {
    const added = `INSERT INTO gateway_spend
      SELECT (jsonb_populate_record(call, '{"call_id": "at-once"}')).* FROM gateway_spend AS call LIMIT 1`
    expect(await whileHeld(added, () => write('at-once'), lockedRows)).toEqual([])
  })

  it.each([
    ['of calls', write, 'SHARE', [...OF_CALLS, ...SUMS]],
    ['of folded calls', writeFolded, 'SHARE', [...OF_FOLDS, ...SUMS]],
    ['of calls, as an upgrade does', upgrade, 'ROW EXCLUSIVE', TABLES],
  ] as const)('the tables %s', async (_, run, mode, tables) => {
    for (const [index, table] of tables.entries()) {
      const locked = await whileHeld(`LOCK TABLE ${table} IN ${mode} MODE`, () => run(), lockedTables)
      expect(locked, `before ${table}`).toEqual(tables.slice(0, index))
    }
  })
})
