import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { lockFolder } from './folder-lock.node.ts'
import { type Sql, SqlError } from './sql.ts'
import { refused, sqlOver, type Wire, type WireResult, type WireStatement } from './wire.ts'

export interface PgliteOptions {
  /** Where the data lives; without one, in memory. */
  readonly folder?: string | undefined
}

/** Postgres inside the process, for a gateway that brings its own. One process a folder: a second one is refused. A
 *  statement cannot be cut short here, for it runs on the thread that would have to do it. */
export async function pgliteSql(options: PgliteOptions = {}): Promise<Sql> {
  return sqlOver(await pgliteWire(options))
}

/** The same one level lower, for what passes printed values on. */
export async function pgliteWire({ folder }: PgliteOptions = {}): Promise<Wire> {
  const { database, unlock } =
    folder === undefined ? { database: await opened(), unlock: () => {} } : await inFolder(folder)
  keepText(database)
  return {
    async run(statement) {
      try {
        return await execute(database, statement)
      } catch (error) {
        throw failure(error)
      }
    },
    async runAll(statements) {
      try {
        return await database.transaction(async (transaction) => {
          const results: WireResult[] = []
          for (const statement of statements) results.push(await execute(transaction, statement))
          return results
        })
      } catch (error) {
        throw failure(error)
      }
    },
    async close() {
      if (database.closed) return
      await database.close()
      unlock()
    },
  }
}

async function inFolder(folder: string): Promise<{ database: PGlite; unlock: () => void }> {
  mkdirSync(folder, { recursive: true })
  const path = realpathSync(folder)
  const unlock = lockFolder(path)
  try {
    return { database: await openedOnce(path), unlock }
  } catch (error) {
    unlock()
    throw error
  }
}

/** A first start that was killed half-way has left a folder that can be neither opened nor set up: it is begun again. */
async function openedOnce(path: string): Promise<PGlite> {
  const unfinished = `${path}.unfinished`
  if (existsSync(unfinished)) rmSync(path, { recursive: true, force: true })
  if (existsSync(`${path}/PG_VERSION`)) return await opened(path)
  if (existsSync(path) && readdirSync(path).length > 0) {
    throw new SqlError(`${path} is not empty and holds no database. Choose another folder for it.`)
  }
  writeFileSync(unfinished, '')
  const database = await opened(path)
  rmSync(unfinished)
  return database
}

async function opened(path?: string): Promise<PGlite> {
  try {
    return await PGlite.create(path === undefined ? {} : { dataDir: path })
  } catch (error) {
    const where = path === undefined ? 'in memory' : `in ${path}`
    throw new SqlError(`The embedded database ${where} cannot be opened: ${(error as Error).message}`)
  }
}

/** Values in and out stay the text that Postgres reads and prints. */
function keepText(database: PGlite): void {
  database.serializers = {}
  for (const type of Object.keys(database.parsers)) database.parsers[type] = (text) => text
}

async function execute(on: Pick<PGlite, 'query'>, { text, values }: WireStatement): Promise<WireResult> {
  const { command = '', rowCount, fields, rows } = await on.query(text, [...values], { rowMode: 'array' })
  return { command, rowCount: rowCount ?? null, fields, rows: rows as (string | null)[][] }
}

function failure(error: unknown): SqlError {
  const { code, message } = error as { code?: string; message: string }
  return code ? refused(code, message) : new SqlError(`The embedded database failed: ${message}`)
}
