import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { endedDays } from '../../../../src/stores/sql/spend/ended-days.ts'
import type { SpendFilters } from '../../../../src/stores/sql/spend/spend-filters.ts'
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
      // A key asks several models, of which each has deployments and a provider with others.
      model: `model-${(key + day) % 3}`,
      deployment: `deployment-${(key + day) % 6}`,
      provider: `provider-${(key + day) % 2}`,
      organizationId: `org-${key % 4}`,
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

const WITHIN: readonly SpendFilters[] = [
  { model: 'model-1' },
  { deployment: 'deployment-4' },
  { provider: 'provider-0' },
  { organization_id: 'org-3' },
]
/** What a late call has in common with others of its day. */
const LATE = { model: 'model-1', deployment: 'deployment-4', provider: 'provider-0', organizationId: 'org-3' }

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
    for (const table of [
      'spend',
      'spend_past',
      'spend_rollup',
      'spend_total',
      'spend_key_day',
      'spend_served',
      'spend_ranking',
    ]) {
      await sql.query({ sql: `DELETE FROM gateway_${table}`, parameters: [] })
    }
    for (let from = 0; from < calls.length; from += 200) await ledger.write(sql, calls.slice(from, from + 200))
  }

  /** Ranks the days that have ended; resolves with how many were not ranked. */
  async function rank(): Promise<number> {
    const days = await endedDays(sql).unranked(Date.now())
    for (const day of days) await endedDays(sql).rank(day)
    return days.length
  }

  let lates = 0
  const late = (keyId: string, userId: string, costNano: number) =>
    finishedCall({ callId: `call_late_${lates++}`, at: at(50), keyId, userId, costNano, ...LATE })

  async function expectTold(by: 'key' | 'user', name: keyof typeof RANGES, within: SpendFilters): Promise<void> {
    const [from, to] = RANGES[name].map(at) as [string, string]
    const [[column, value] = ["''", '']] = Object.entries(within)
    const { rows } = await sql.query<{ value: string; nano: string }>({
      sql: `SELECT ${by}_id AS value, coalesce(sum(cost_nano), 0) AS nano FROM gateway_spend
        WHERE at >= $1::timestamptz AND at < $2::timestamptz AND ${column} = $3
        GROUP BY 1 ORDER BY 2 DESC, count(*) DESC, ${by}_id LIMIT 28`,
      parameters: [from, to, value],
    })
    const held = rows.map(({ value, nano }) => [value, Number(nano)])
    const reports = spendReports(sql)
    for (const limit of [1, 4, 25]) {
      const told = async (offset: number) =>
        (await reports.grouped('everything', { from, to }, { ...within, by, offset, limit })).map((group) => [
          group.group_value,
          Number(group.cost_nano),
        ])
      expect(await told(0)).toEqual(held.slice(0, limit))
      expect(await told(3)).toEqual(held.slice(3, 3 + limit))
    }
    const split = { ...within, by: 'day', splitBy: by, top: 4, offset: 0, limit: 10_000 } as const
    const groups = await reports.split('everything', { from, to }, split)
    expect(new Set(groups.map(({ split_value }) => split_value))).toEqual(
      new Set([...held.slice(0, 4).map(([value]) => value), null]),
    )
    const whole = await reports.totals('everything', { from, to }, within)
    const added = groups.reduce((sum, group) => sum + Number(group.calls), 0)
    expect(added).toBe(Number(whole.current.calls))
  }

  // PGlite is PostgreSQL and shows that it takes the statements; each answer costs it twenty times as much.
  const costs = [
    ['a few cost most', skewed],
    ['all cost the same', flat],
  ] as const
  const ranges = server === 'PGlite' ? (['days and parts'] as const) : (Object.keys(RANGES) as (keyof typeof RANGES)[])

  describe.skipIf(!possible).each(server === 'PGlite' ? costs.slice(0, 1) : costs)('where %s', (_, calls) => {
    it('the ledger holds them', () => hold(calls))

    const CASES = (['key', 'user'] as const).flatMap((by) => ranges.map((range) => [by, range] as const))

    it.each(CASES)('are told as the ledger has them: by %s, of %s', (by, name) => expectTold(by, name, {}))

    describe.each([
      ['with days that are ranked', async () => void (await rank())],
      [
        'with a call more of such a day, which changes all of its places',
        () => ledger.write(sql, [late('key-3', 'user-3', 9_000_000), late('key-251', 'user-51', 8_000_000)]),
      ],
      ['ranked anew', async () => expect(await rank()).toBe(1)],
    ])('%s', (_, change) => {
      beforeAll(change, 60_000)

      it.each(CASES)('by %s, of %s', async (by, name) => {
        await expectTold(by, name, {})
        if (name === 'days and parts') for (const within of WITHIN) await expectTold(by, name, within)
      })
    })

    it('nothing is ranked twice, and nothing that goes on', async () => {
      expect(await rank()).toBe(0)
      const days = await endedDays(sql).unranked(START + 24 * HOUR)
      expect(days).toEqual([])
    })
  })

  it.skipIf(!possible)('are found without reading what the others have cost', async () => {
    await hold(skewed)
    await rank()
    const range = { from: at(0), to: at(24 * DAYS) }
    for (const [by, within, ranks] of [
      ['key', {}, 'gateway_spend_key_day'],
      ['user', {}, 'gateway_spend_ranking'],
      ['key', { model: 'model-1' }, 'gateway_spend_ranking'],
      ['user', { organization_id: 'org-3' }, 'gateway_spend_ranking'],
    ] as const) {
      statements = []
      await spendReports(sql).grouped('everything', range, { ...within, by, offset: 0, limit: 2 })
      const ranked = statements.findIndex((text) => text.includes(ranks))
      expect(ranked).toBeGreaterThan(-1)
      expect(statements.slice(ranked + 1)).not.toEqual([])
      for (const text of statements.slice(ranked + 1)) expect(text).toMatch(/(value|key_id|user_id)" = ANY/)
    }
  })
})
