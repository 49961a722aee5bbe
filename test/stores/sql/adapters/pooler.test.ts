import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { type Pooler, poolerExists, startPooler } from '../../../support/pooler.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl || !(poolerExists || process.env.CI))('a PostgreSQL behind a pooler', () => {
  let pooler: Pooler
  let gateways: Sql[]
  beforeAll(async () => {
    pooler = await startPooler(postgresUrl)
    gateways = [1, 2].map(() => nodePostgresSql({ connectionString: pooler.url }))
    // Each has one connection before both ask for more than there are.
    for (const sql of gateways) await sql.ping(5000)
  })
  afterAll(async () => {
    for (const sql of gateways ?? []) await sql.close()
    await pooler?.stop()
  })

  it('answers as one without, whose plans and options it does not know, and lets in fewer connections than they ask for', async () => {
    const repeated = 'at any size'
    const asking = (value: number) => ({ sql: 'SELECT $1::int + 1 AS next', parameters: [value], repeated }) as const
    for (let turn = 0; turn < 3; turn++) {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, value) => (gateways[value % 2] as Sql).query(asking(value))),
      )
      expect(answers.map(({ rows }) => rows)).toEqual(answers.map((_, value) => [{ next: value + 1 }]))
    }
    const transactions = await Promise.all(
      Array.from({ length: 10 }, (_, turn) => (gateways[turn % 2] as Sql).batch([asking(turn), asking(-1)])),
    )
    expect(transactions.map((results) => results.map(({ rows }) => rows[0]?.next))).toEqual(
      transactions.map((_, turn) => [turn + 1, 0]),
    )
  })
})
