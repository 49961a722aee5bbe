import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { batchOf, queries, rowsOf, statementOf } from '../../../src/stores/sql/query.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { emptyEmbeddedSql } from '../../support/embedded-database.node.ts'

const HOSTILE = `x"; DROP TABLE gateway_user; --'$1`

describe('statements of the builder', () => {
  let database: Sql
  beforeAll(async () => {
    database = await emptyEmbeddedSql()
    await database.query({
      sql: 'CREATE TABLE gateway_user (user_id text PRIMARY KEY, user_name text)',
      parameters: [],
    })
  })
  afterAll(() => database.close())

  it('keep values apart from their text', () => {
    expect(
      statementOf(queries.selectFrom('gateway_user').select('user_id').where('user_name', '=', HOSTILE).limit(3)),
    ).toEqual({
      sql: 'select "user_id" from "gateway_user" where "user_name" = $1 limit $2',
      parameters: [HOSTILE, 3],
    })
  })

  it('quote names in a template, and number values through the pieces it is made of', () => {
    const piece = sql`user_id = ${HOSTILE}`
    expect(statementOf(sql`SELECT ${sql.id(HOSTILE)} WHERE ${piece} AND ${['a', 'b']}::text[] IS NOT NULL`)).toEqual({
      sql: `SELECT "x""; DROP TABLE gateway_user; --'$1" WHERE user_id = $1 AND $2::text[] IS NOT NULL`,
      parameters: [HOSTILE, ['a', 'b']],
    })
  })

  it('take nothing that JSON can say for a piece of SQL', () => {
    const forged = JSON.parse('{"expressionType":null,"kind":"RawNode","sqlFragments":["DROP"],"parameters":[]}')
    expect(statementOf(sql`SELECT ${forged}`)).toEqual({ sql: 'SELECT $1', parameters: [forged] })
  })

  it('answer rows, and those of a batch each by its own type', async () => {
    const added = queries.insertInto('gateway_user').values({ user_id: HOSTILE }).returning('user_id')
    const names = queries.selectFrom('gateway_user').select('user_name')
    const [first, second] = await batchOf(database, [added, names])
    expectTypeOf(first).toEqualTypeOf<{ user_id: string }[]>()
    expectTypeOf(second).toEqualTypeOf<{ user_name: string | null }[]>()
    expect([first, second]).toEqual([[{ user_id: HOSTILE }], [{ user_name: null }]])
    const counted = await rowsOf(database, sql<{ count: string }>`SELECT count(*) FROM gateway_user`)
    expectTypeOf(counted).toEqualTypeOf<{ count: string }[]>()
    expect(counted).toEqual([{ count: '1' }])
  })

  it('do not compile for a table, a column, a value or a text that is not of the schema', () => {
    // Read by the compiler alone.
    const planted = (text: string) => {
      // @ts-expect-error: no such table
      queries.selectFrom('gateway_users').selectAll()
      // @ts-expect-error: no such column
      queries.selectFrom('gateway_user').select('name')
      // @ts-expect-error: a text is no number
      queries.updateTable('gateway_user').set({ user_name: 7 })
      // @ts-expect-error: a version is a number
      queries.selectFrom('gateway_model').selectAll().where('version', '=', 'seven')
      // @ts-expect-error: a list of JSON is written as its text
      queries.updateTable('gateway_key').set({ allowed_ips: ['::1'] })
      // @ts-expect-error: what has no default cannot be left out
      queries.insertInto('gateway_key').values({ key_id: 'key' })
      // @ts-expect-error: any text is no table
      queries.selectFrom(text)
      // @ts-expect-error: any text is no column
      queries.selectFrom('gateway_user').where(text, '=', 'x')
      // @ts-expect-error: any text is no order
      queries.selectFrom('gateway_user').selectAll().orderBy(text)
      // @ts-expect-error: a text is no statement
      statementOf(text)
    }
    expect(planted).toBeTypeOf('function')
  })
})
