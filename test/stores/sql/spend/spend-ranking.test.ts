import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { spendReports } from '../../../../src/stores/sql/spend/spend-reports.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import type { CallFinished } from '../../../../src/telemetry/events.ts'
import { ledger } from '../../../../src/telemetry/ledger.ts'
import { preparedEmbeddedSql } from '../../../support/embedded-database.node.ts'
import { finishedCall } from '../../../support/finished-calls.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { seededRandom } from '../../../support/random.ts'

const postgresUrl = inject('postgresUrl')
const random = seededRandom(11).next
const HOUR = 3_600_000
const START = Date.UTC(2026, 3, 6)
const DAYS = 6
const at = (hours: number) => new Date(START + hours * HOUR).toISOString()

/** Calls of 260 keys on each of some days: a few cost most, a few most on one day alone, and many nothing. */
const skewed = call('skewed', (key, day) => {
  if (key % 40 === 39) return undefined
  if (key === 200 + day) return 4_000_000
  return key % 3 === 2 ? 0 : Math.floor((900_000 * (0.5 + random())) / (key + 1))
})
const flat = call('flat', () => 1000)

function call(name: string, cost: (key: number, day: number) => number | undefined): readonly CallFinished[] {
  return Array.from({ length: DAYS * 260 }, (_, index) => {
    const [day, key] = [Math.floor(index / 260), index % 260]
    return finishedCall({
      callId: `call_${name}_${index}`,
      at: at(24 * day + Math.floor(24 * random())),
      keyId: key === 7 ? '' : `key-${key}`,
      userId: `user-${key % 200}`,
      costNano: cost(key, day),
    })
  })
}

const RANGES = {
  'whole days': [0, 24 * DAYS],
  'a day and parts of two': [17, 51],
  'days and parts': [5, 24 * DAYS - 3],
  'a part of one': [30, 40],
} as const

describe.each(['PostgreSQL', 'PGlite'])('the dearest keys and users, in %s', (server) => {
  let sql: Sql
  let statements: string[] = []
  // Not on a machine without a PostgreSQL.
  const possible = server === 'PGlite' || postgresUrl !== ''
  beforeAll(async () => {
    if (!possible) return
    const url = server === 'PostgreSQL' ? await preparedDatabase(postgresUrl) : undefined
    const opened = url ? nodePostgresSql({ connectionString: url }) : await preparedEmbeddedSql()
    sql = {
      ...opened,
      query(statement) {
        statements.push(statement.sql)
        return opened.query(statement)
      },
    }
  }, 60_000)
  afterAll(() => sql?.close())

  /** The ledger holds these, and no others. */
  async function hold(calls: readonly CallFinished[]): Promise<void> {
    for (const table of ['spend', 'spend_past', 'spend_rollup', 'spend_total', 'spend_key_day']) {
      await sql.query({ sql: `DELETE FROM gateway_${table}`, parameters: [] })
    }
    for (let from = 0; from < calls.length; from += 200) await ledger.write(sql, calls.slice(from, from + 200))
  }

  describe.skipIf(!possible).each([
    ['a few cost most', skewed],
    ['all cost the same', flat],
  ])('where %s', (_, calls) => {
    it('the ledger holds them', () => hold(calls))

    it.each(
      (['key', 'user'] as const).flatMap((by) =>
        Object.keys(RANGES).flatMap((range) =>
          [1, 4, 25].map((limit) => [by, range as keyof typeof RANGES, limit] as const),
        ),
      ),
    )('are told as the ledger has them: by %s, of %s, %s', async (by, name, limit) => {
      const [from, to] = RANGES[name].map(at) as [string, string]
      const { rows } = await sql.query<{ value: string; nano: string }>({
        sql: `SELECT ${by}_id AS value, coalesce(sum(cost_nano), 0) AS nano FROM gateway_spend
          WHERE at >= $1::timestamptz AND at < $2::timestamptz
          GROUP BY 1 ORDER BY 2 DESC, count(*) DESC, ${by}_id LIMIT ${limit + 3}`,
        parameters: [from, to],
      })
      const held = rows.map(({ value, nano }) => [value, Number(nano)])
      const told = async (offset: number) =>
        (await spendReports(sql).grouped('everything', { from, to }, { by, offset, limit })).map((group) => [
          group.group_value,
          Number(group.cost_nano),
        ])
      expect(await told(0)).toEqual(held.slice(0, limit))
      expect(await told(3)).toEqual(held.slice(3, 3 + limit))
      const split = { by: 'day', splitBy: by, top: limit, offset: 0, limit: 10_000 } as const
      const groups = await spendReports(sql).split('everything', { from, to }, split)
      expect(new Set(groups.map(({ split_value }) => split_value))).toEqual(
        new Set([...held.slice(0, limit).map(([value]) => value), null]),
      )
      const whole = await spendReports(sql).totals('everything', { from, to }, {})
      const added = groups.reduce((sum, group) => sum + Number(group.calls), 0)
      expect(added).toBe(Number(whole.current.calls))
    })
  })

  it.skipIf(!possible)('are found without reading what the others have cost', async () => {
    await hold(skewed)
    statements = []
    const range = { from: at(0), to: at(24 * DAYS) }
    await spendReports(sql).grouped('everything', range, { by: 'key', offset: 0, limit: 2 })
    const ranked = statements.findIndex((text) => text.includes('gateway_spend_key_day'))
    expect(ranked).toBeGreaterThan(-1)
    for (const text of statements.slice(ranked + 1)) expect(text).toMatch(/value" = ANY/)
  })
})
