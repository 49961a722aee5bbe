import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { type DeadLetterRecords, deadLetterRecords } from '../../../src/stores/sql/dead-letter-records.ts'
import { applySchema } from '../../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { preparedEmbeddedSql, SCHEMA } from '../../support/embedded-database.node.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')

describe.each([
  ['PostgreSQL', true],
  ['PGlite', false],
] as const)('the place of dead letters, in %s', (_, onServer) => {
  const possible = !onServer || postgresUrl !== ''
  let sql: Sql
  let letters: DeadLetterRecords
  beforeAll(async () => {
    if (!possible) return
    sql = onServer
      ? nodePostgresSql({ connectionString: await preparedDatabase(postgresUrl) })
      : await preparedEmbeddedSql()
    await applySchema(sql, SCHEMA)
    letters = deadLetterRecords(sql)
  })
  afterAll(() => sql?.close())
  const all = () => letters.page({ cursor: '', limit: 100 })

  it.skipIf(!possible)('has a record once, whoever keeps it and however often, to the byte', async () => {
    const body = { text: 'nul \0, half \ud83d, "quoted"', number: 1.5e300 }
    const kept = await Promise.all(Array.from({ length: 8 }, () => letters.keep('audit', body, 'why\0')))
    expect(kept).toEqual(Array.from({ length: 8 }, () => true))
    expect(await letters.keep('audit', body, 'another reason')).toBe(true)
    expect(await letters.keep('ledger', body, 'why')).toBe(true)
    const found = await all()
    expect(found.map(({ topic, error }) => [topic, error])).toEqual([
      ['audit', 'why'],
      ['ledger', 'why'],
    ])
    for (const one of found) expect(one.body).toEqual(body)
  })

  it.skipIf(!possible)('takes none that is too large, and no more than it may', async () => {
    expect(await letters.keep('audit', { text: 'x'.repeat(130 * 1024) }, 'why')).toBe(false)
    await sql.query({
      sql: `INSERT INTO gateway_dead_letter (letter_id, topic, body, error)
            SELECT 'letter_' || n, 'audit', '{}', 'why' FROM generate_series(1, 5000) AS n`,
      parameters: [],
    })
    expect(await letters.keep('audit', { id: 'one too many' }, 'why')).toBe(false)
    // One that is there is kept, however full it is.
    expect(await letters.keep('audit', { text: 'nul \0, half \ud83d, "quoted"', number: 1.5e300 }, 'why')).toBe(true)
  })
})
