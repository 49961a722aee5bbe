import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startPostgresOverHttp } from '../../../../src/runtimes/local/postgres-over-http.node.ts'
import { neonSql } from '../../../../src/stores/sql/adapters/neon.ts'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { emptyEmbeddedSql } from '../../../support/embedded-database.node.ts'
import { freshDatabase } from '../../../support/postgres.ts'

const STARTS = 50
const postgresUrl = inject('postgresUrl')
const text = await readFile(new URL('../../../../schema.sql', import.meta.url), 'utf8')

describe.skipIf(postgresUrl === '')('many starts at once on one fresh database', () => {
  async function race(open: (n: number) => Sql): Promise<void> {
    const all = Array.from({ length: STARTS }, (_, n) => open(n))
    const outcomes = await Promise.allSettled(all.map((sql) => applySchema(sql, text)))
    expect(outcomes.filter(({ status }) => status === 'rejected')).toStrictEqual([])
    // Without several that found nothing yet, this was no race.
    expect(outcomes.filter((one) => one.status === 'fulfilled' && one.value === 'applied').length).toBeGreaterThan(5)
    const versions = await all[0]?.query({ sql: 'SELECT version FROM gateway_schema', parameters: [] })
    expect(versions?.rows).toHaveLength(1)
    await Promise.all(all.map((sql) => sql.close()))
  }

  it(`${STARTS} over connections of their own`, async () => {
    const connectionString = await freshDatabase(postgresUrl)
    await race(() => nodePostgresSql({ connectionString, connections: 1 }))
  })

  it(`${STARTS} over HTTP`, async () => {
    const connectionString = await freshDatabase(postgresUrl)
    const endpoint = await startPostgresOverHttp({ postgresUrl: connectionString, port: 0 })
    // Its own host name, for endpoints are remembered by host and port.
    const named = Object.assign(new URL(connectionString), { hostname: 'schema-race.test' }).href
    await race(() => neonSql({ connectionString: named, fetchEndpoint: endpoint.url }))
    await endpoint.close()
  })
})

describe.each<[string, () => Promise<Sql>, boolean]>([
  [
    'PostgreSQL',
    async () => nodePostgresSql({ connectionString: await freshDatabase(postgresUrl) }),
    postgresUrl !== '',
  ],
  ['PGlite', () => emptyEmbeddedSql(), true],
])('on %s', (_, open, present) => {
  let sql: Sql
  beforeAll(async () => {
    if (present) sql = await open()
  })
  afterAll(() => sql?.close())

  it.runIf(present)('costs one query when this text was applied before, by whichever release was last', async () => {
    expect(await applySchema(sql, text)).toBe('applied')
    expect(await applySchema(sql, `${text}\n-- the next release`)).toBe('applied')
    let queries = 0
    const counting: Sql = {
      ...sql,
      query: (statement) => {
        queries += 1
        return sql.query(statement)
      },
      batch: () => Promise.reject(new Error('a batch')),
    }
    expect(await applySchema(counting, text)).toBe('current')
    expect(queries).toBe(1)
  })

  it.runIf(present)('may be applied again over data, and changes none', async () => {
    await sql.query({ sql: `INSERT INTO gateway_queue (topic, body) VALUES ('kept', '1')`, parameters: [] })
    expect(await applySchema(sql, `${text}\n-- again`)).toBe('applied')
    const { rows } = await sql.query({ sql: 'SELECT topic FROM gateway_queue', parameters: [] })
    expect(rows).toStrictEqual([{ topic: 'kept' }])
  })

  it.runIf(present)('finds addresses of earlier builds by the keys of today, where they are free', async () => {
    const query = async (statement: string) => (await sql.query({ sql: statement, parameters: [] })).rows
    const account = (name: string, key: string) =>
      query(`WITH person AS (INSERT INTO gateway_user (user_id) VALUES ('${name}') RETURNING user_id)
        INSERT INTO gateway_account (account_id, user_id, email, email_key, platform_role)
        SELECT '${name}', user_id, '${key}', '${key}', 'org_user' FROM person`)
    await account('a', 'jürgen@bücher.example')
    await account('b', 'b@bücher.example')
    await account('c', 'b@xn--bcher-kva.example')
    await query(`INSERT INTO gateway_invitation (invitation_id, token_hash, email, email_key, expires_at)
      VALUES ('i', 't', 'I@bücher.example', 'i@bücher.example', now())`)
    await applySchema(sql, `${text}\n-- of a release with other keys`)
    expect(await query('SELECT account_id, email_key FROM gateway_account ORDER BY account_id')).toEqual([
      { account_id: 'a', email_key: 'jürgen@xn--bcher-kva.example' },
      { account_id: 'b', email_key: 'b@bücher.example' },
      { account_id: 'c', email_key: 'b@xn--bcher-kva.example' },
    ])
    const kept = [{ email: 'I@bücher.example', email_key: 'i@xn--bcher-kva.example' }]
    expect(await query('SELECT email, email_key FROM gateway_invitation')).toEqual(kept)
  })

  it.runIf(present)('leaves everything as it was when one statement fails', async () => {
    const broken = `${text}; CREATE TABLE half_made (id int); SELECT 1 / 0;`
    await expect(applySchema(sql, broken)).rejects.toMatchObject({ code: '22012' })
    const { rows } = await sql.query({ sql: `SELECT to_regclass('half_made') AS made`, parameters: [] })
    expect(rows).toStrictEqual([{ made: null }])
  })
})

it('the lock is the first statement, so that no other can run without it', () => {
  expect(text.replace(/^(--.*\n)+/, '')).toMatch(/^SELECT pg_advisory_xact_lock\(\d+\);/)
})
