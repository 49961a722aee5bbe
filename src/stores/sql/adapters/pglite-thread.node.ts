import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite, type Results } from '@electric-sql/pglite'
import { isOwnerOnly, makeOwnerOnly } from './owner-only.node.ts'
import type { WireResult, WireStatement } from './wire.ts'

/** Statements to be carried out, several of them in one transaction. */
export interface ThreadRequest {
  readonly id: number
  /** `close` ends the database and, with it, the thread. */
  readonly work: readonly WireStatement[] | 'close'
}

/** What the thread says: of the opening once, and of every request under its id. */
export type ThreadAnswer =
  | { readonly id: number | 'opening'; readonly results: readonly WireResult[] }
  | { readonly id: number | 'opening'; readonly failure: ThreadFailure }

export interface ThreadFailure {
  readonly message: string
  /** The SQLSTATE, when Postgres gave one. */
  readonly code: string | undefined
}

/** What the thread is started with. */
export interface ThreadData {
  /** The real path of the data; without one, in memory. */
  readonly path: string | undefined
}

/** Postgres' own defaults are a server's. These save 100 MB of memory, 1 GB of disk, and a third of the opening. */
const FRUGAL = ['shared_buffers=32MB', 'max_wal_size=64MB']

if (parentPort) answerOn(parentPort, workerData as ThreadData)

/** The whole life of the thread. Requests that come while the database is being opened wait in the port. */
async function answerOn(port: NonNullable<typeof parentPort>, { path }: ThreadData): Promise<void> {
  const say = (answer: ThreadAnswer) => port.postMessage(answer)
  let database: PGlite
  try {
    database = path === undefined ? await opened() : await openedOnce(path)
    keepText(database)
  } catch (error) {
    say({ id: 'opening', failure: named(error) })
    return
  }
  port.on('message', async ({ id, work }: ThreadRequest) => {
    try {
      if (work !== 'close') return say({ id, results: await carriedOut(database, work) })
      await database.close()
      say({ id, results: [] })
      port.close()
    } catch (error) {
      say({ id, failure: named(error) })
    }
  })
  say({ id: 'opening', results: [] })
}

/** A first start that was killed half-way has left a folder that can be neither opened nor set up: it is begun again. */
async function openedOnce(path: string): Promise<PGlite> {
  const unfinished = `${path}.unfinished`
  if (existsSync(unfinished)) rmSync(path, { recursive: true, force: true })
  if (existsSync(`${path}/PG_VERSION`)) {
    if (!isOwnerOnly(path)) makeOwnerOnly(path)
    return await opened(path)
  }
  if (existsSync(path) && readdirSync(path).length > 0) {
    throw new Error(`${path} is not empty and holds no database. Choose another folder for it.`)
  }
  writeFileSync(unfinished, '')
  const database = await opened(path)
  // What PGlite lays out has modes of its own, whatever the process's are.
  makeOwnerOnly(path)
  rmSync(unfinished)
  return database
}

async function opened(path?: string): Promise<PGlite> {
  try {
    const startParams = [...PGlite.defaultStartParams, ...FRUGAL.flatMap((setting) => ['-c', setting])]
    return await PGlite.create(path === undefined ? { startParams } : { dataDir: path, startParams })
  } catch (error) {
    const where = path === undefined ? 'in memory' : `in ${path}`
    throw new Error(`The embedded database ${where} cannot be opened: ${named(error).message}`)
  }
}

/** Values in and out stay the text that Postgres reads and prints. */
function keepText(database: PGlite): void {
  database.serializers = {}
  for (const type of Object.keys(database.parsers)) database.parsers[type] = (text) => text
}

async function carriedOut(database: PGlite, work: readonly WireStatement[]): Promise<WireResult[]> {
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
  const result = repeated ? await again(on, statement) : await on.query(text, [...values], { rowMode: 'array' })
  const { command = '', rowCount, fields, rows } = result
  return { command, rowCount: rowCount ?? null, fields, rows: rows as (string | null)[][] }
}

/** The names of the plans that are kept, by the text of their statements. */
const plans = new Map<string, string>()

/** With the plan of the last time. In one message, its values in the text: the way of a query with parameters takes six,
 *  and plans it anew. */
async function again(on: Connection, { text, values }: WireStatement) {
  let plan = plans.get(text)
  if (plan === undefined) {
    plan = `repeated_${plans.size}`
    await on.exec(`PREPARE ${plan} AS ${text}`)
    plans.set(text, plan)
  }
  const [result] = await on.exec(`EXECUTE ${plan}(${values.map(literal).join(', ')})`, { rowMode: 'array' })
  return result as Results
}

function literal(value: string | null): string {
  return value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`
}

function named(error: unknown): ThreadFailure {
  const { message, code } = error as { message?: string; code?: unknown }
  return { message: message ?? String(error), code: typeof code === 'string' ? code : undefined }
}
