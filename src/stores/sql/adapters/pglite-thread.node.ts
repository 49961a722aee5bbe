import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite, type Results } from '@electric-sql/pglite'
import { isOwnerOnly, makeOwnerOnly } from './owner-only.node.ts'
import { isOfTheDisk, NotOpened, requireSameMajor, whyNotOpened } from './pglite-refusals.node.ts'
import { unpackDatabase } from './unpack-database.node.ts'
import type { WireResult, WireStatement } from './wire.ts'

/** Statements to run; several of them run in one transaction. */
export interface ThreadRequest {
  readonly id: number
  /** `close` ends the database and, with it, the thread. */
  readonly work: readonly WireStatement[] | 'close'
}

/** The thread's messages: one about the opening, and one for every request by its id. */
export type ThreadAnswer =
  | { readonly id: number | 'opening'; readonly results: readonly WireResult[] }
  | { readonly id: number | 'opening'; readonly failure: ThreadFailure }

export interface ThreadFailure {
  readonly message: string
  /** The SQLSTATE, if Postgres sent one. */
  readonly code: string | undefined
}

/** The data that the thread is started with. */
export interface ThreadData {
  /** The real path of the data; undefined for a database in memory. */
  readonly path: string | undefined
  /** The file of a packed database for a path without one, if there is such a file. */
  readonly archive: string | undefined
}

/** Settings that save 100 MB of memory, 1 GB of disk and a third of the opening against the defaults, which are for
 *  servers. */
const FRUGAL = ['shared_buffers=32MB', 'max_wal_size=64MB']

if (parentPort) answerOn(parentPort, workerData as ThreadData)

/** Opens the database and answers requests until `close`. Requests wait in the port while the database is being
 *  opened. */
async function answerOn(port: NonNullable<typeof parentPort>, { path, archive }: ThreadData): Promise<void> {
  const reply = (answer: ThreadAnswer) => port.postMessage(answer)
  let database: PGlite
  try {
    database = path === undefined ? await opened() : await openedIn(path, archive)
    keepText(database)
  } catch (error) {
    reply({ id: 'opening', failure: named(error) })
    return
  }
  port.on('message', async ({ id, work }: ThreadRequest) => {
    try {
      if (work !== 'close') return reply({ id, results: await runAll(database, work) })
      await database.close()
      reply({ id, results: [] })
      port.close()
    } catch (error) {
      reply({ id, failure: named(error) })
    }
  })
  reply({ id: 'opening', results: [] })
}

async function openedIn(path: string, archive: string | undefined): Promise<PGlite> {
  try {
    return await openedOnce(path, archive)
  } catch (error) {
    throw whyNotOpened(path, error)
  }
}

/** Opens or creates the database. A folder that an interrupted first start has left cannot be opened, and is created
 *  anew. */
async function openedOnce(path: string, archive: string | undefined): Promise<PGlite> {
  const unfinished = `${path}.unfinished`
  if (existsSync(unfinished)) rmSync(path, { recursive: true, force: true })
  if (existsSync(`${path}/PG_VERSION`)) {
    requireSameMajor(path)
    if (!isOwnerOnly(path)) makeOwnerOnly(path)
    return await opened(path)
  }
  if (existsSync(path) && readdirSync(path).length > 0) {
    throw new NotOpened(`${path} is not empty and holds no database. Choose another folder for it.`)
  }
  writeFileSync(unfinished, '')
  const database = (await unpacked(path, archive)) ?? (await opened(path))
  // PGlite's own files have modes of their own, regardless of the umask.
  makeOwnerOnly(path)
  rmSync(unfinished)
  return database
}

function startParams(): string[] {
  return [...PGlite.defaultStartParams, ...FRUGAL.flatMap((setting) => ['-c', setting])]
}

/** The packed database, laid into an empty folder; undefined if there is none, or if it is of a release of Postgres that
 *  this one cannot open. */
async function unpacked(path: string, archive: string | undefined): Promise<PGlite | undefined> {
  if (archive === undefined || !existsSync(archive)) return undefined
  try {
    unpackDatabase(archive, path)
    return await opened(path)
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    if (isOfTheDisk(error)) throw error
    return undefined
  }
}

function opened(path?: string): Promise<PGlite> {
  return PGlite.create({ startParams: startParams(), ...(path === undefined ? {} : { dataDir: path }) })
}

/** Keeps values as the text that Postgres reads and prints. */
function keepText(database: PGlite): void {
  database.serializers = {}
  for (const type of Object.keys(database.parsers)) database.parsers[type] = (text) => text
}

async function runAll(database: PGlite, work: readonly WireStatement[]): Promise<WireResult[]> {
  const [only] = work
  if (only && work.length === 1) return [await execute(database, only)]
  return database.transaction(async (transaction) => {
    const results: WireResult[] = []
    for (const statement of work) results.push(await execute(transaction, statement))
    return results
  })
}

type Connection = Pick<PGlite, 'query' | 'exec'>

async function execute(on: Connection, statement: WireStatement): Promise<WireResult> {
  const { text, values, repeated } = statement
  const result = repeated ? await runPrepared(on, statement) : await on.query(text, [...values], { rowMode: 'array' })
  const { command = '', rowCount, fields, rows } = result
  return { command, rowCount: rowCount ?? null, fields, rows: rows as (string | null)[][] }
}

/** The names of prepared statements, by text. */
const plans = new Map<string, string>()

/** Runs a prepared statement in one message with the values in its text. A query with parameters would take six
 *  messages and be planned anew. */
async function runPrepared(on: Connection, { text, values }: WireStatement) {
  let plan = plans.get(text)
  if (plan === undefined) {
    plan = `repeated_${plans.size}`
    await on.exec(`PREPARE ${plan} AS ${text}`)
    plans.set(text, plan)
  }
  const given = values.length > 0 ? `(${values.map(literal).join(', ')})` : ''
  const [result] = await on.exec(`EXECUTE ${plan}${given}`, { rowMode: 'array' })
  return result as Results
}

function literal(value: string | null): string {
  return value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`
}

function named(error: unknown): ThreadFailure {
  const { message, code } = error as { message?: string; code?: unknown }
  return { message: message ?? String(error), code: typeof code === 'string' ? code : undefined }
}
