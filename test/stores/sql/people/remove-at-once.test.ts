import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { administeredAccounts } from '../../../../src/stores/sql/people/administered-accounts.ts'
import { membershipRecords } from '../../../../src/stores/sql/records/membership-records.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { lockWaits } from '../../../support/lock-waits.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('a person who leaves', () => {
  let sql: Sql
  let holder: pg.Client

  beforeAll(async () => {
    const connectionString = await preparedDatabase(postgresUrl)
    sql = nodePostgresSql({ connectionString })
    holder = new pg.Client({ connectionString })
    await holder.connect()
    await holder.query(`
      INSERT INTO gateway_team (team_id) VALUES ('red');
      INSERT INTO gateway_user (user_id) VALUES ('ann');
      INSERT INTO gateway_account (account_id, user_id, email, email_key, platform_role)
        VALUES ('ann', 'ann', 'ann@example.com', 'ann@example.com', 'org_user');
      INSERT INTO gateway_membership (scope_type, scope_id, user_id, role) VALUES ('team', 'red', 'ann', 'team_developer');
      INSERT INTO gateway_key (key_id, key_hash, team_id, user_id, owner_account_id)
        VALUES ('key', 'hash', 'red', 'ann', 'ann')`)
  })
  afterAll(() => Promise.all([sql?.close(), holder?.end()]))

  const waiting = () => lockWaits(sql)

  it('leaves a team and the gateway at the same moment, and neither waits for the other without end', async () => {
    await holder.query('BEGIN; SELECT FROM gateway_key FOR UPDATE')
    const removed = administeredAccounts(sql).remove('ann')
    await expect.poll(waiting).toHaveLength(1)
    const left = membershipRecords(sql).remove('team', 'red', 'ann', ['team_developer'])
    await expect.poll(waiting).toHaveLength(2)
    await holder.query('COMMIT')
    expect(await removed).toMatchObject({ account: { account_id: 'ann' }, keys: [{ key_id: 'key' }] })
    expect(await left).toBeUndefined()
    expect((await holder.query('SELECT FROM gateway_membership')).rows).toEqual([])
  })
})
