import { describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { pgliteSql } from '../../src/stores/sql/adapters/pglite.node.ts'
import type { Repeated, Sql } from '../../src/stores/sql/sql.ts'
import { freshDatabase } from '../support/postgres.ts'
import { remoteSqlContract, sqlContract } from './sql.ts'

const connectionString = inject('postgresUrl')

describe.skipIf(connectionString === '')('sql: node-postgres', () => {
  sqlContract(async () => nodePostgresSql({ connectionString }))
  remoteSqlContract(connectionString, (url, timeoutMs) => nodePostgresSql({ connectionString: url, timeoutMs }))

  it('runs at read committed, whatever the default of the database is', async () => {
    const url = await freshDatabase(connectionString)
    const ask = (text: string) => ({ sql: text, parameters: [] })
    const before = nodePostgresSql({ connectionString: url })
    const database = new URL(url).pathname.slice(1)
    await before.query(ask(`ALTER DATABASE ${database} SET default_transaction_isolation = 'serializable'`))
    await before.close()
    const sql = nodePostgresSql({ connectionString: url })
    const results = [
      await sql.query(ask('SHOW transaction_isolation')),
      ...(await sql.batch([ask('SHOW transaction_isolation')])),
    ]
    expect(results.map(({ rows }) => rows)).toEqual(Array(2).fill([{ transaction_isolation: 'read committed' }]))
    await sql.close()
  })

  it('adds its options to those of the address', async () => {
    const url = `${connectionString}?options=${encodeURIComponent('-c search_path=own -c jit=on')}`
    const sql = nodePostgresSql({ connectionString: url, connections: 1 })
    const set = async (name: string) => (await sql.query({ sql: `SHOW ${name}`, parameters: [] })).rows[0]?.[name]
    expect([await set('search_path'), await set('statement_timeout'), await set('jit')]).toEqual(['own', '10s', 'off'])
    await sql.close()
  })

  it('does with the connections that it gets', async () => {
    const admin = nodePostgresSql({ connectionString, connections: 1 })
    const role = `narrow_${crypto.randomUUID().slice(0, 8)}`
    const ask = (text: string) => ({ sql: text, parameters: [] })
    await admin.query(ask(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 2`))
    const sql = nodePostgresSql({ connectionString: Object.assign(new URL(connectionString), { username: role }).href })
    const asking = ask('SELECT pg_sleep(0.01)')
    await Promise.all(Array.from({ length: 20 }, (_, turn) => (turn % 2 ? sql.query(asking) : sql.batch([asking]))))
    // Those that stood have ended, and there are no others: nothing waits for one.
    await admin.query(ask(`ALTER ROLE ${role} CONNECTION LIMIT 0`))
    await admin.query(ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`))
    const refused = await Promise.allSettled(Array.from({ length: 12 }, () => sql.query(asking)))
    expect(refused.filter(({ status }) => status === 'fulfilled')).toEqual([])
    await sql.close()
    await admin.query(ask(`DROP ROLE ${role}`))
    await admin.close()
  })

  describe('the plan of a repeated statement', () => {
    const ask = (sql: Sql, text: string, repeated?: Repeated) => sql.query({ sql: text, parameters: [], repeated })
    const planned = async (sql: Sql) =>
      (await ask(sql, 'SELECT count(*)::int AS plans FROM pg_prepared_statements')).rows[0]?.plans

    it('is kept, but not of one that suits an embedded database only', async () => {
      const sql = nodePostgresSql({ connectionString, connections: 1 })
      for (let turn = 0; turn < 2; turn++) {
        await ask(sql, 'SELECT 1 AS one', 'at any size')
        await ask(sql, 'SELECT 2 AS two', 'embedded')
        expect(await planned(sql)).toBe(1)
      }
      await sql.close()
    })

    it.each([
      ['the connection was exchanged for one that has no plan', ['DEALLOCATE ALL']],
      ['a column has another type now', ['ALTER TABLE plan_changed ALTER one TYPE text']],
    ])('is given up, and the statement answered, once %s', async (_, meanwhile) => {
      const sql = nodePostgresSql({ connectionString, connections: 1 })
      await ask(sql, 'CREATE TABLE plan_changed AS SELECT 1 AS one')
      const one = async () => (await ask(sql, 'SELECT one::int FROM plan_changed', 'at any size')).rows
      const all = async () => (await ask(sql, 'SELECT * FROM plan_changed', 'at any size')).rows.length
      for (let turn = 0; turn < 2; turn++) expect([await one(), await all()]).toEqual([[{ one: 1 }], 1])
      for (const text of meanwhile) await ask(sql, text)
      for (let turn = 0; turn < 2; turn++) expect([await all(), await one()]).toEqual([1, [{ one: 1 }]])
      expect(await planned(sql)).toBe(0)
      await ask(sql, 'DROP TABLE plan_changed')
      await sql.close()
    })
  })
})

describe('sql: PGlite', () => {
  sqlContract(() => pgliteSql())
})
