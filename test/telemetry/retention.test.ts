import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { type AuditEvent, insertAuditEvents } from '../../src/stores/sql/records/audit-records.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import { spendRetention } from '../../src/stores/sql/spend/spend-retention.ts'
import type { Sql, Statement } from '../../src/stores/sql/sql.ts'
import type { CallFinished } from '../../src/telemetry/events.ts'
import { ledger } from '../../src/telemetry/ledger.ts'
import { retention } from '../../src/telemetry/retention.ts'
import { preparedEmbeddedSql } from '../support/embedded-database.node.ts'
import { finishedCall } from '../support/finished-calls.ts'
import { preparedDatabase } from '../support/prepared-database.ts'
import { SUM_TABLES, summedUp } from '../support/spend-sums.ts'

const postgresUrl = inject('postgresUrl')
const schemaText = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const running = new AbortController().signal
const silent = jsonLog('silent', () => {})
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()

const call = (callId: string, ageMs: number): CallFinished =>
  finishedCall({
    callId,
    at: ago(ageMs),
    tags: ['x', `of ${callId}`],
    charges: [{ subject: 'key:key-1', period: '' }],
    costNano: 1000,
  })

const event = (event_id: string, ageMs: number): AuditEvent => ({
  event_id,
  occurred_at: ago(ageMs),
  actor_type: 'user',
  actor_id: null,
  organization_id: null,
  action: 'key.create',
  resource_type: 'key',
  resource_id: null,
  request_id: 'req',
  ip: null,
  user_agent: null,
  status: 200,
  changes: {},
  metadata: {},
})

describe.each([
  ['PostgreSQL', true],
  ['PGlite', false],
] as const)('records that are kept no longer, in %s', (_, onServer) => {
  const possible = !onServer || postgresUrl !== ''
  let url = ''
  let sql: Sql
  beforeAll(async () => {
    if (!possible) return
    if (onServer) url = await preparedDatabase(postgresUrl)
    sql = onServer ? nodePostgresSql({ connectionString: url }) : await preparedEmbeddedSql()
    await applySchema(sql, schemaText)
  })
  afterAll(() => sql?.close())
  beforeEach(async () => {
    const tables = ['gateway_spend', 'gateway_spend_tag', 'gateway_spend_past', 'gateway_budget', 'gateway_audit_event']
    if (possible) for (const table of [...tables, ...SUM_TABLES]) await ask(`DELETE FROM ${table}`)
  })

  const ask = async <Row>(text: string, ...parameters: unknown[]) =>
    (await sql.query<Row>({ sql: text, parameters })).rows
  const ids = async (column: string, table: string) =>
    (await ask<{ id: string }>(`SELECT ${column} AS id FROM ${table} ORDER BY 1`)).map(({ id }) => id)
  /** Every table of sums, and the budgets. */
  const counted = () =>
    Promise.all([
      ...SUM_TABLES.map((table) => {
        const { columns } = summedUp(table)
        return ask(`SELECT ${columns} FROM ${table} ORDER BY ${columns}`)
      }),
      ask('SELECT * FROM gateway_budget ORDER BY subject'),
    ])
  const sweep = (callDays: number, auditDays: number, signal = running, database = sql) =>
    retention(database, { spend_log_retention_days: callDays, audit_retention_days: auditDays }, silent)(signal)

  describe.skipIf(!possible)('calls and events', () => {
    it('go with their age; sums and budgets stay what they were', async () => {
      await ledger.write(sql, [call('old', 31 * DAY_MS), call('due', 30 * DAY_MS), call('young', 29 * DAY_MS)])
      await insertAuditEvents(sql, [event('old', 366 * DAY_MS), event('young', 364 * DAY_MS)])
      const before = await counted()
      await sweep(30, 365)
      expect(await ids('call_id', 'gateway_spend')).toEqual(['due', 'young'])
      expect(await ids('DISTINCT call_id', 'gateway_spend_tag')).toEqual(['due', 'young'])
      expect(await ids('event_id', 'gateway_audit_event')).toEqual(['young'])
      expect(await counted()).toEqual(before)
    })

    it('are kept for ever by default', async () => {
      await ledger.write(sql, [call('old', 3000 * DAY_MS)])
      await insertAuditEvents(sql, [event('old', 3000 * DAY_MS)])
      await sweep(0, 0)
      expect(await ids('call_id', 'gateway_spend')).toEqual(['old'])
      expect(await ids('event_id', 'gateway_audit_event')).toEqual(['old'])
    })

    it('that come once more when they are gone count nothing; those beside them are added', async () => {
      // Written in time, and written late.
      await ledger.write(sql, [call('in-time', 1000), call('late', 40 * DAY_MS)])
      await ask("UPDATE gateway_spend SET at = now() - interval '2 days' WHERE call_id = 'in-time'")
      await sweep(1, 0)
      expect(await ids('call_id', 'gateway_spend')).toEqual([])
      const before = await counted()
      await ledger.write(sql, [call('in-time', 2 * DAY_MS), call('late', 40 * DAY_MS)])
      expect(await counted()).toEqual(before)
      await ledger.write(sql, [call('late', 40 * DAY_MS), call('new', 1000), call('in-time', 2 * DAY_MS)])
      expect(await ids('call_id', 'gateway_spend')).toEqual(['new'])
      expect(await ask('SELECT spent_nano::int FROM gateway_budget')).toEqual([{ spent_nano: 3000 }])
    })

    it('are remembered for 14 days after they went', async () => {
      await ledger.write(sql, [call('old', 31 * DAY_MS), call('older', 32 * DAY_MS)])
      // Noted when it was written late, and once more when it went.
      await ask("UPDATE gateway_spend_past SET noted_at = now() - interval '20 days'")
      await sweep(30, 0)
      expect(await ids('call_id', 'gateway_spend_past')).toEqual(['old', 'older'])
      await ask("UPDATE gateway_spend_past SET noted_at = now() - interval '15 days' WHERE call_id = 'older'")
      await sweep(0, 0)
      expect(await ids('call_id', 'gateway_spend_past')).toEqual(['old'])
    })

    it('wait while the table of tags is filled', async () => {
      await ledger.write(sql, [call('old', 31 * DAY_MS)])
      await ask("UPDATE gateway_backfill SET filled_at = NULL WHERE target = 'gateway_spend_tag'")
      await sweep(30, 0)
      expect(await ids('call_id', 'gateway_spend')).toEqual(['old'])
      await ask('UPDATE gateway_backfill SET filled_at = now()')
      await sweep(30, 0)
      expect(await ids('call_id', 'gateway_spend')).toEqual([])
    })

    it('go in steps, and not after the process was told to stop', async () => {
      await ledger.write(
        sql,
        Array.from({ length: 25 }, (_, index) => call(`old-${index}`, 31 * DAY_MS)),
      )
      await sweep(30, 0, AbortSignal.abort())
      const { removeCalls } = spendRetention(sql)
      expect([await removeCalls(30, 10), await removeCalls(30, 10), await removeCalls(30, 10)]).toEqual([10, 10, 5])
    })
  })

  describe.skipIf(!onServer || !possible)('a large ledger', () => {
    const CALLS = 12_000
    const fill = async () => {
      await ask(`
        INSERT INTO gateway_spend
        SELECT 'call_' || n, now() - interval '35 days' + n * interval '4 minutes', 'req_' || n, '/v1/chat/completions',
          'chat', 'big', 'big', 'big-1', 'openai', 'key-1', 'team-1', 'org-1', '', '', ARRAY['x', 'y'],
          false, 'answered', 200, '', 'off', 1, 0, 10, 20, 0, 0, 0, 0, 0, 0, 0, false, 1000, 0, 0.5, 200, 800, 900
        FROM generate_series(1, ${CALLS}) AS n`)
      for (const table of SUM_TABLES) {
        const { columns, query } = summedUp(table)
        await ask(`INSERT INTO ${table} (${columns}) ${query}`)
      }
      await ask('INSERT INTO gateway_spend_tag SELECT tag, at, call_id FROM gateway_spend, unnest(tags) AS tag')
      await ask(`
        INSERT INTO gateway_audit_event
        SELECT 'event_' || n, now() - n * interval '1 minute', 'user', 'u', NULL, 'key.create', 'key', 'k', 'r', NULL, NULL,
          200, '{}', '{}' FROM generate_series(1, 12000) AS n`)
      await ask('ANALYZE')
    }

    it('is swept by two processes at once, while calls are added and come again', async () => {
      await fill()
      const other = nodePostgresSql({ connectionString: url })
      const third = nodePostgresSql({ connectionString: url })
      const left = "SELECT count(*)::int AS n FROM gateway_spend WHERE at < now() - interval '10 days 1 hour'"
      const [old] = await ask<{ n: number }>(left)
      const sumsBefore = await ask<{ calls: number }>(
        "SELECT calls::int FROM gateway_spend_total WHERE dimension = 'all' AND grain = 'day'",
      )
      // What another process delivers meanwhile: new calls, and old ones that are in the ledger or have just gone.
      let over = false
      let added = 0
      const adding = (async () => {
        while (!over) {
          const again = Array.from({ length: 40 }, (_, index) =>
            call(`call_${((added * 997 + index * 31) % 10_000) + 1}`, 20 * DAY_MS),
          )
          const fresh = Array.from({ length: 10 }, (_, index) => call(`fresh_${added + index}`, 1000))
          await ledger.write(third, [...again, ...fresh])
          added += fresh.length
        }
      })()
      try {
        // Small steps, so that they take turns many times.
        const whole = async (database: Sql) => {
          const { removeCalls } = spendRetention(database)
          let removed = 0
          for (let step = -1; step !== 0; removed += step) step = await removeCalls(10, 100)
          return removed
        }
        const removed = await Promise.all([whole(sql), whole(other), sweep(0, 5), sweep(0, 5, running, other)])
        expect(removed[0] + removed[1]).toBe((old as { n: number }).n)
      } finally {
        over = true
        await adding
        await Promise.all([other.close(), third.close()])
      }
      expect((old as { n: number }).n).toBeGreaterThan(8000)
      expect(added).toBeGreaterThan(0)
      expect(await ask(left)).toEqual([{ n: 0 }])
      expect(await ids('event_id', "gateway_audit_event WHERE occurred_at < now() - interval '5 days'")).toEqual([])
      const [rows] = await ask<{ calls: number; orphans: number; past: number }>(`
        SELECT (SELECT count(*) FROM gateway_spend)::int AS calls, (SELECT count(*) FROM gateway_spend_past)::int AS past,
          (SELECT count(*) FROM gateway_spend_tag t WHERE NOT EXISTS
            (SELECT FROM gateway_spend c WHERE c.call_id = t.call_id))::int AS orphans`)
      expect(rows).toEqual({
        calls: CALLS - (old as { n: number }).n + added,
        past: (old as { n: number }).n,
        orphans: 0,
      })
      const total = async () =>
        (
          await ask<{ n: number }>(
            "SELECT sum(calls)::int AS n FROM gateway_spend_total WHERE dimension = 'all' AND grain = 'day'",
          )
        )[0]
      expect(sumsBefore.reduce((sum, { calls }) => sum + calls, 0)).toBe(CALLS)
      expect(await total()).toEqual({ n: CALLS + added })
    })

    it('is never read as a whole', async () => {
      await fill()
      const asked: Statement[] = []
      const listening: Sql = {
        ...sql,
        query: (statement) => {
          asked.push(statement)
          return sql.query(statement)
        },
      }
      await ask("INSERT INTO gateway_spend_past SELECT 'past-' || n FROM generate_series(1, 20000) AS n")
      await ask(`
        INSERT INTO gateway_refusal
        SELECT now() - n * interval '3 minutes', 'key-1', '', '', '', '/v1/rerank', 'x', '', 'one', 1
        FROM generate_series(1, 20000) AS n`)
      await ask('ANALYZE gateway_spend_past, gateway_refusal')
      await sweep(34, 8, running, listening)
      const plans = await Promise.all(
        asked
          .filter((statement) => statement.sql.includes('DELETE'))
          .map(async ({ sql: text, parameters }) => {
            const plan = await ask<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, ...parameters)
            return plan.map((line) => line['QUERY PLAN']).join('\n')
          }),
      )
      expect(plans.length).toBeGreaterThanOrEqual(6)
      expect(await ask("SELECT FROM gateway_refusal WHERE minute < now() - interval '34 days'")).toEqual([])
      for (const plan of plans) expect(plan).not.toContain('Seq Scan')
    })
  })
})
