import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { spendReports } from '../../../../src/stores/sql/spend/spend-reports.ts'
import { SERVED_DIMENSIONS } from '../../../../src/stores/sql/spend/spend-sums.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { ledger } from '../../../../src/telemetry/ledger.ts'
import { preparedEmbeddedSql } from '../../../support/embedded-database.node.ts'
import { finishedCall } from '../../../support/finished-calls.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { seededRandom } from '../../../support/random.ts'

const postgresUrl = inject('postgresUrl')
const random = seededRandom(23).next
const below = (n: number) => Math.floor(n * random())
const HOUR = 3_600_000
const START = Date.UTC(2026, 4, 11)
const HOURS = 96
const at = (hours: number) => new Date(START + hours * HOUR).toISOString()
const ROUNDS = 60

/** Some calls have no model, deployment or provider: those that nothing served. */
const calls = Array.from({ length: 600 }, (_, index) => {
  const model = below(5)
  const served = {
    model: `model-${model}`,
    deployment: `deployment-${model % 2 === 0 ? model : below(4)}`,
    provider: `provider-${below(2)}`,
  }
  return finishedCall({
    callId: `call_served_${index}`,
    at: at(HOURS * random()),
    keyId: `key-${below(40)}`,
    costNano: below(5000),
    ...(index % 9 === 0 ? { model: '', deployment: '', provider: '' } : served),
  })
})

describe.each(['PostgreSQL', 'PGlite'])('reports by what served the calls, in %s', (server) => {
  let sql: Sql
  const asked: string[] = []
  const possible = server === 'PGlite' || postgresUrl !== ''
  beforeAll(async () => {
    if (!possible) return
    const url = server === 'PostgreSQL' ? await preparedDatabase(postgresUrl) : undefined
    const opened = url ? nodePostgresSql({ connectionString: url }) : await preparedEmbeddedSql()
    sql = {
      ...opened,
      query(statement) {
        asked.push(statement.sql)
        return opened.query(statement)
      },
    }
    for (let from = 0; from < calls.length; from += 100) await ledger.write(sql, calls.slice(from, from + 100))
  }, 60_000)
  afterAll(() => sql?.close())

  it.skipIf(!possible)(
    'have the sums of the ledger, whatever they are narrowed to, and do not read who called',
    async () => {
      const pick = <Item>(items: readonly Item[]) => items[below(items.length)] as Item
      for (let round = 0; round < ROUNDS; round++) {
        const first = below(HOURS - 1)
        const range = { from: at(first), to: at(first + 1 + below(HOURS - first)) }
        const filters: Record<string, string> = {}
        for (const name of SERVED_DIMENSIONS) {
          const value = `${name}-${below(3)}`
          const kind = below(6)
          if (kind < 2) filters[kind === 0 ? name : `not_${name}`] = value
        }
        const by = pick(['hour', 'day', ...SERVED_DIMENSIONS] as const)
        const splitBy = pick(SERVED_DIMENSIONS.filter((name) => name !== by))
        asked.length = 0
        const page = { by, splitBy, top: 100, offset: 0, limit: 10_000 }
        const told = await spendReports(sql).split('everything', range, { ...filters, ...page })
        expect(asked.join('\n')).not.toMatch(/gateway_spend_rollup/)
        const value = by === 'hour' || by === 'day' ? `date_trunc('${by}', at, 'UTC')` : by
        const conditions = Object.keys(filters).map((name, index) =>
          name.startsWith('not_') ? `${name.slice(4)} <> $${index + 3}` : `${name} = $${index + 3}`,
        )
        const { rows: held } = await sql.query<Record<string, unknown>>({
          sql: `SELECT ${value} AS group_value, ${splitBy} AS split_value, count(*)::int AS calls, sum(cost_nano)::int AS nano,
            sum(output_tokens)::int AS tokens FROM gateway_spend
          WHERE ${['at >= $1::timestamptz', 'at < $2::timestamptz', ...conditions].join(' AND ')} GROUP BY 1, 2`,
          parameters: [range.from, range.to, ...Object.values(filters)],
        })
        const line = (...values: unknown[]) => JSON.stringify(values)
        expect(
          told
            .map((row) => line(row.group_value, row.split_value, +row.calls, +row.cost_nano, +row.output_tokens))
            .sort(),
          JSON.stringify({ range, filters, by, splitBy }),
        ).toEqual(held.map((row) => line(row.group_value, row.split_value, row.calls, row.nano, row.tokens)).sort())
      }
    },
  )
})
