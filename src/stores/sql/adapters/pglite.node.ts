import { mkdirSync, realpathSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { lockFolder } from '../../../lib/folder-lock.node.ts'
import { type Sql, SqlError } from '../sql.ts'
import type { ThreadAnswer, ThreadData, ThreadFailure, ThreadRequest } from './pglite-thread.node.ts'
import { noAnswer, refused, sqlOver, type Wire, type WireResult } from './wire.ts'

export interface PgliteOptions {
  /** The folder of the data; by default the database is in memory. */
  readonly folder?: string | undefined
  /** A packed database that is laid into a folder without one, if there is such a file; without it one is made, which
   *  takes seconds and a gigabyte of memory. */
  readonly archive?: string | undefined
  /** The time limit of an answer. The statement itself continues, since its thread cannot interrupt it. */
  readonly timeoutMs?: number
}

/** A database that is being opened. Statements wait until it is open. */
export interface Opening<Port> {
  readonly port: Port
  /** Rejects with SqlError if the database cannot be opened; so do all waiting statements. */
  readonly opened: Promise<void>
}

/** The thread's module, which is a file of its own in the build too. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './pglite-thread.node.ts' : './pglite-thread.mjs',
  import.meta.url,
)

/** Optimising the code of Postgres takes 500 MB of memory and seconds of a core, and makes its statements hardly faster. V8
 *  asks for these when it compiles, and the first implies no other once the process runs. */
const UNOPTIMISED = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']

/** The time for closing the database before its thread is terminated. */
const CLOSE_MS = 5000

/** Postgres embedded in the process, on a thread of its own. A folder belongs to one process: a second one is
 *  refused. */
export async function pgliteSql(options: PgliteOptions = {}): Promise<Sql> {
  return sqlOver(await pgliteWire(options))
}

/** The same as a Wire, whose values stay text. */
export async function pgliteWire(options: PgliteOptions = {}): Promise<Wire> {
  const { port, opened } = openPgliteWire(options)
  await opened
  return port
}

/** The same without waiting for the opening. Throws at once if another process holds the folder. */
export function openPglite(options: PgliteOptions = {}): Opening<Sql> {
  const { port, opened } = openPgliteWire(options)
  return { port: sqlOver(port), opened }
}

interface Waiting {
  resolve(results: WireResult[]): void
  reject(error: SqlError): void
}

function openPgliteWire({ folder, archive, timeoutMs = 10_000 }: PgliteOptions): Opening<Wire> {
  const { path, unlock } = folder === undefined ? { path: undefined, unlock: () => {} } : locked(folder)
  const workerData: ThreadData = { path, archive }
  for (const flag of UNOPTIMISED) setFlagsFromString(flag)
  const thread = new Worker(THREAD, { workerData, execArgv: [] })
  const waiting = new Map<ThreadAnswer['id'], Waiting>()
  let serial = 0
  let ended: SqlError | undefined
  let isOpen = false
  let closing: Promise<void> | undefined

  function expectAnswer(id: ThreadAnswer['id']): Promise<WireResult[]> {
    // An awaited answer keeps the process alive; an idle database does not.
    thread.ref()
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }
  function takeWaiting(id: ThreadAnswer['id']): Waiting | undefined {
    const one = waiting.get(id)
    waiting.delete(id)
    if (waiting.size === 0) thread.unref()
    return one
  }
  function end(why: SqlError): void {
    ended ??= why
    for (const id of [...waiting.keys()]) takeWaiting(id)?.reject(ended)
  }

  thread.on('message', (answer: ThreadAnswer) => {
    const one = takeWaiting(answer.id)
    if ('results' in answer) one?.resolve([...answer.results])
    else one?.reject(failed(answer.failure))
  })
  thread.on('error', (error: Error) => end(new SqlError(`The embedded database broke down: ${error.message}`)))
  thread.on('exit', () => {
    end(new SqlError('The embedded database is closed.'))
    unlock()
  })

  const opened = expectAnswer('opening').then(
    () => {
      isOpen = true
    },
    async (error: SqlError) => {
      end(error)
      await thread.terminate()
      throw error
    },
  )
  // Without a waiting statement a rejection must not end the process.
  opened.catch(() => {})

  async function ask(work: ThreadRequest['work'], limitMs: number): Promise<WireResult[]> {
    if (!isOpen) await opened
    if (ended) throw ended
    const id = ++serial
    const answer = expectAnswer(id)
    thread.postMessage({ id, work } satisfies ThreadRequest)
    const timer = setTimeout(() => takeWaiting(id)?.reject(noAnswer(limitMs)), limitMs)
    try {
      return await answer
    } finally {
      clearTimeout(timer)
    }
  }

  async function close(): Promise<void> {
    if (isOpen && !ended) await ask('close', CLOSE_MS).catch(() => {})
    // A database that is still being opened is abandoned: the next start creates it anew.
    await thread.terminate()
  }

  const port: Wire = {
    async run(statement) {
      const [result] = await ask([statement], timeoutMs)
      return result as WireResult
    },
    runAll: (statements) => ask(statements, timeoutMs),
    close() {
      closing ??= close()
      return closing
    },
  }
  return { port, opened }
}

function locked(folder: string): { path: string; unlock: () => void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = realpathSync(folder)
  return { path, unlock: lockFolder(path) }
}

function failed({ code, message }: ThreadFailure): SqlError {
  return code ? refused(code, message) : new SqlError(message)
}
