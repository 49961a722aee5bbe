import { cpSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pgliteSql } from '../../src/stores/sql/adapters/pglite.node.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import { madeOnce } from './made-once.ts'

export const SCHEMA = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')

/** A thousand files; one after the other without waiting they cost a sixth. */
const copy = (from: string, to: string) => cpSync(from, to, { recursive: true })

/** Lays an empty embedded database into a folder that is not there yet. Setting one up takes seconds of a core, opening
 *  it a fraction of one: what does not test the first start begins here. */
export async function emptyDatabaseIn(folder: string): Promise<void> {
  const made = await madeOnce('embedded-database', async (shared) => {
    const sql = await pgliteSql({ folder: join(shared, 'postgres'), timeoutMs: 60_000 })
    await sql.close()
  })
  copy(join(made, 'postgres'), folder)
}

/** The same with the schema in it, which takes another second of a core. */
export async function preparedDatabaseIn(folder: string): Promise<void> {
  const made = await madeOnce('embedded-database-with-schema', async (shared) => {
    await emptyDatabaseIn(join(shared, 'postgres'))
    const sql = await pgliteSql({ folder: join(shared, 'postgres'), timeoutMs: 60_000 })
    await applySchema(sql, SCHEMA)
    await sql.close()
  })
  copy(join(made, 'postgres'), folder)
}

/** An empty embedded database of the test's own, gone when it is closed. */
export const emptyEmbeddedSql = () => embeddedSqlOver(emptyDatabaseIn)

/** The same with the schema in it. */
export const preparedEmbeddedSql = () => embeddedSqlOver(preparedDatabaseIn)

async function embeddedSqlOver(lay: (folder: string) => Promise<void>): Promise<Sql> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-embedded-'))
  const folder = join(home, 'postgres')
  await lay(folder)
  const sql = await pgliteSql({ folder })
  return {
    ...sql,
    async close() {
      await sql.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}
