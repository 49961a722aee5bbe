import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPglite } from '../../stores/sql/adapters/pglite.node.ts'
import { applySchema } from '../../stores/sql/schema/apply-schema.ts'

/** An embedded database with the schema and no rows, packed: the first start unpacks it. Making one takes seconds of a
 *  core and a gigabyte of memory, so it is made once for each schema and release of PGlite. Returns its path in the
 *  cache; undefined where PGlite is not installed. */
export async function databaseArchive(root: string): Promise<string | undefined> {
  const pglite = await import('@electric-sql/pglite').catch(() => undefined)
  if (!pglite) return undefined
  const schema = readFileSync(`${root}schema.sql`, 'utf8')
  const { version } = JSON.parse(readFileSync(`${root}node_modules/@electric-sql/pglite/package.json`, 'utf8'))
  const hash = createHash('sha256').update(`${version}\n${schema}`).digest('hex').slice(0, 16)
  const cache = `${root}node_modules/.cache/gateway`
  const path = `${cache}/database-${hash}.tar.gz`
  if (existsSync(path)) return path

  const home = mkdtempSync(join(tmpdir(), 'gateway-database-'))
  try {
    const folder = join(home, 'postgres')
    const { port, opened } = openPglite({ folder, timeoutMs: 120_000 })
    await opened
    await applySchema(port, schema)
    await port.close()
    const database = await pglite.PGlite.create({ dataDir: folder })
    const archive = await database.dumpDataDir('gzip')
    await database.close()
    mkdirSync(cache, { recursive: true })
    // Written to another name and renamed, so that no reader finds an incomplete file.
    const fresh = `${path}-${process.pid}`
    writeFileSync(fresh, new Uint8Array(await archive.arrayBuffer()))
    renameSync(fresh, path)
    return path
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
