import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pgliteSql } from '../../src/stores/sql/adapters/pglite.node.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import { madeOnce } from './made-once.ts'

/** Lays an empty embedded database into a folder that is not there yet. Setting one up takes seconds of a core, opening
 *  it a fraction of one: what does not test the first start begins here. */
export async function emptyDatabaseIn(folder: string): Promise<void> {
  const made = await madeOnce('embedded-database', async (shared) => {
    const sql = await pgliteSql({ folder: join(shared, 'postgres') })
    await sql.close()
  })
  await cp(join(made, 'postgres'), folder, { recursive: true })
}

/** An empty embedded database of the test's own, gone when it is closed. */
export async function emptyEmbeddedSql(): Promise<Sql> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-embedded-'))
  const folder = join(home, 'postgres')
  await emptyDatabaseIn(folder)
  const sql = await pgliteSql({ folder })
  return {
    ...sql,
    async close() {
      await sql.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}
