import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { credentialRecords } from '../../../../src/stores/sql/credential-records.ts'
import { brokenForeignKey } from '../../../../src/stores/sql/records/foreign-key.ts'
import { type ModelContent, modelRecords } from '../../../../src/stores/sql/records/model-records.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { lockWaits } from '../../../support/lock-waits.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('a credential that is removed while a deployment begins to name it', () => {
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

  it.each(['made', 'changed'])('stays, for the deployment is %s first', async (how) => {
    const [credentials, models] = [credentialRecords(sql), modelRecords(sql)]
    const secret = { provider: 'openai', gateway_params: {}, sealed: '', rotated_at: new Date().toISOString() }
    await credentials.create(how, secret)
    const content: ModelContent = { model_name: 'm', gateway_params: {}, model_info: {}, sealed: '', credential: how }
    if (how === 'changed') await models.create(how, { ...content, credential: null })
    // Every change of routing moves the revision: here a third one holds it.
    await holder.query("BEGIN; SELECT FROM gateway_revision WHERE subject = 'routing' FOR UPDATE")
    const written = how === 'made' ? models.create(how, content) : models.replace(how, undefined, content)
    await expect.poll(waiting).toHaveLength(1)
    const removed = credentials.remove(how).catch((error) => brokenForeignKey(error) ?? error)
    await expect.poll(waiting).toHaveLength(2)
    await holder.query('COMMIT')
    expect(await written).toMatchObject({ credential: how })
    expect(await removed).toEqual({ table: 'gateway_model', column: 'credential' })
  })
})
