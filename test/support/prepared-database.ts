import pg from 'pg'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import { SCHEMA } from './embedded-database.node.ts'
import { madeOnce } from './made-once.ts'
import { freshDatabase } from './postgres.ts'

const TEMPLATE = 'prepared'

/** The address of a new database with the schema in it, on the server that all tests share: a copy of one that is made
 *  once in a run, which takes the server a third of the time. */
export async function preparedDatabase(url: string): Promise<string> {
  await madeOnce('postgres-template', async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`CREATE DATABASE ${TEMPLATE}`)
    await client.end()
    const sql = nodePostgresSql({ connectionString: Object.assign(new URL(url), { pathname: `/${TEMPLATE}` }).href })
    await applySchema(sql, SCHEMA)
    await sql.close()
  })
  return freshDatabase(url, TEMPLATE)
}
