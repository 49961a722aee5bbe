import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { promptRecords } from '../../../../src/stores/sql/prompts/prompt-records.ts'
import { routeGroupPolicyRecords } from '../../../../src/stores/sql/records/route-group-policy-records.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { lockWaits } from '../../../support/lock-waits.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('a draft that is published while a former version is restored', () => {
  let sql: Sql
  let holder: pg.Client

  beforeAll(async () => {
    const connectionString = await preparedDatabase(postgresUrl)
    sql = nodePostgresSql({ connectionString })
    holder = new pg.Client({ connectionString })
    await holder.connect()
  })
  afterAll(() => Promise.all([sql?.close(), holder?.end()]))

  const waiting = () => lockWaits(sql)

  it('is published behind it: neither waits for the other without end', async () => {
    const policies = routeGroupPolicyRecords(sql)
    const first = { messages: [], variables: {}, labels: [], createdBy: 'ann', note: '' }
    await promptRecords(sql).create('greeting', '', first)
    await policies.putDraft('m', { prompt_ref: 'greeting' }, undefined)
    await policies.publish('m', undefined, 'ann')
    await policies.putDraft('m', { prompt_ref: 'greeting', num_retries: 1 }, undefined)
    // Both wait for a third change, that of the prompt.
    await holder.query("BEGIN; SELECT FROM gateway_prompt WHERE key = 'greeting' FOR UPDATE")
    const restored = policies.restore('m', 1, 'ann')
    await expect.poll(waiting).toHaveLength(1)
    const published = policies.publish('m', undefined, 'ben')
    await expect.poll(waiting).toHaveLength(2)
    await holder.query('COMMIT')
    expect(await restored).toMatchObject({ version: 2, restored_from: 1 })
    expect(await published).toMatchObject({ version: 3, published: { num_retries: 1 } })
  })
})
