import pg from 'pg'
import { inject } from 'vitest'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import { preparedEmbeddedSql, SCHEMA } from './embedded-database.node.ts'
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

/** A database of the test's own with the schema in it: on the server, where this machine has one. */
export async function preparedSql(): Promise<Sql> {
  const server = inject('postgresUrl')
  return server ? nodePostgresSql({ connectionString: await preparedDatabase(server) }) : preparedEmbeddedSql()
}
