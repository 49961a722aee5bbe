import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { teamRecords } from '../../../../src/stores/sql/records/team-records.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const text = await readFile(new URL('../../../../schema.sql', import.meta.url), 'utf8')

describe.skipIf(!postgresUrl)('a team that is removed', () => {
  let sql: Sql
  let other: pg.Client

  beforeAll(async () => {
    const connectionString = await preparedDatabase(postgresUrl)
    sql = nodePostgresSql({ connectionString })
    await applySchema(sql, text)
    other = new pg.Client({ connectionString })
    await other.connect()
    await other.query("INSERT INTO gateway_user (user_id) VALUES ('ann')")
  })
  afterAll(async () => {
    await other?.end()
    await sql?.close()
  })

  it.each([
    [
      'a member',
      'gateway_membership',
      `WITH parent AS (SELECT team_id FROM gateway_team WHERE team_id = 'red' FOR KEY SHARE)
       INSERT INTO gateway_membership (scope_type, scope_id, user_id, role) SELECT 'team', team_id, 'ann', 'team_admin'
       FROM parent`,
    ],
    [
      'a binding',
      'gateway_callable_binding',
      `WITH parent AS (UPDATE gateway_team SET version = nextval('gateway_record_version') WHERE team_id = 'red'
         RETURNING team_id)
       INSERT INTO gateway_callable_binding (binding_id, scope_type, scope_id, callable_key)
       SELECT 'b', 'team', team_id, 'm' FROM parent`,
    ],
  ])('takes along %s that is written at the same moment', async (_, table, write) => {
    const teams = teamRecords(sql)
    await teams.create({ team_id: 'red' })
    await other.query('BEGIN')
    await other.query(write)
    const removed = teams.remove('red', 'everything')
    await wait(200)
    await other.query('COMMIT')
    expect(await removed).toMatchObject({ team_id: 'red' })
    expect((await other.query(`SELECT scope_id FROM ${table}`)).rows).toEqual([])
  })
})
