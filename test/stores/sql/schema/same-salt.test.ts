import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { secret } from '../../../../src/lib/secret.ts'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { preparedFirst } from '../../../../src/stores/sql/adapters/prepared-first.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import { requireSameSalt } from '../../../../src/stores/sql/schema/same-salt.ts'
import { type Sql, SqlError } from '../../../../src/stores/sql/sql.ts'
import { freshDatabase } from '../../../support/postgres.ts'

const postgresUrl = inject('postgresUrl')
const own = secret('salt-of-one-installation-4f1c')
const other = secret('salt-of-another-installation-9b2e')

describe.skipIf(postgresUrl === '')('the salt key of a database', () => {
  let sql: Sql
  beforeAll(async () => {
    sql = nodePostgresSql({ connectionString: await freshDatabase(postgresUrl) })
    await applySchema(sql, await readFile(new URL('../../../../schema.sql', import.meta.url), 'utf8'))
  })
  afterAll(() => sql.close())

  it('is that of the first gateway, of however many that start at once', async () => {
    const keys = Array.from({ length: 20 }, (_, at) => secret(`salt-of-gateway-${at}-77aa12`))
    const outcomes = await Promise.allSettled(keys.map((key) => requireSameSalt(sql, { salt_key: key })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await sql.query({ sql: 'DELETE FROM gateway_installation', parameters: [] })
  })

  it('is known again, and another is refused with what to do, without a word of either', async () => {
    await requireSameSalt(sql, { salt_key: own })
    await requireSameSalt(sql, { salt_key: own })
    await expect(requireSameSalt(sql, { salt_key: other })).rejects.toThrow(/another salt key.*Set GATEWAY_SALT_KEY/)
    const { rows } = await sql.query({ sql: 'SELECT * FROM gateway_installation', parameters: [] })
    expect(rows).toEqual([
      { name: 'sealed_under', value: 'v1' },
      { name: 'salt_key_fingerprint', value: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ])
  })

  it('that is another’s refuses every statement of an isolate, and its readiness', async () => {
    let prepared = 0
    const refusing = preparedFirst(sql, async () => {
      prepared += 1
      await requireSameSalt(sql, { salt_key: other })
    })
    const statement = { sql: 'SELECT 1', parameters: [] }
    await refusing.ping(1000)
    for (const failing of [
      () => refusing.query(statement),
      () => refusing.batch([statement]),
      () => refusing.ping(1000),
    ]) {
      const error = await failing().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(SqlError)
      expect(String(error)).toContain('another salt key')
    }
    expect(prepared).toBe(1)
  })
})
