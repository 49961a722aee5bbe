import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

const run = promisify(execFile)

export interface PostgresServer {
  readonly url: string
  /** Of the process that starts the others. */
  readonly pid: number
  /** Every process of it stands still, its connections stay open. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** As a crash ends it, until `start`. */
  halt(): Promise<void>
  start(): Promise<void>
  /** Runs again, whatever was done to it. */
  restore(): Promise<void>
  stop(): Promise<void>
}

/** A fresh PostgreSQL cluster in a temporary folder, gone after `stop`. Undefined where this machine has no server
 *  binaries; in CI that is a failure. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const binaries = folderOf('initdb')
  if (binaries === undefined) {
    if (process.env.CI) throw new Error('PostgreSQL is not installed, and CI must not skip what needs it.')
    return undefined
  }
  const folder = await mkdtemp(join(tmpdir(), 'gateway-postgres-'))
  const data = join(folder, 'data')
  const port = await freePort()
  const command = await asServerUser(folder)
  const pgCtl = (...options: string[]) => command(join(binaries, 'pg_ctl'), ['-D', data, '-w', ...options])

  await command(
    join(binaries, 'initdb'),
    `-D ${data} -A trust -U postgres --no-sync -E UTF8 --locale=C --lc-ctype=C.UTF-8`.split(' '),
  )
  // Its workers would visit the hundreds of databases of a run one after the other, and no query of a test runs for longer
  // than it takes to compile.
  const idle = '-c autovacuum=off -c jit=off -c fsync=off -c full_page_writes=off -c checkpoint_timeout=1h'
  const settings = `-c listen_addresses=127.0.0.1 -p ${port} -k ${folder} -c max_connections=200 ${idle}`
  const start = () => pgCtl('-o', settings, '-l', join(folder, 'log'), 'start')
  const halt = () => pgCtl('-m', 'immediate', 'stop')
  await start()
  const pid = async () => Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10)
  // The first process stands still before its children are looked for, and so makes no more of them.
  async function signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const first = await pid()
    process.kill(first, name)
    const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(first)])
    for (const child of stdout.split('\n').filter(Boolean)) {
      try {
        process.kill(Number(child), name)
      } catch (error) {
        // It has ended meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }
  let [frozen, halted] = [false, false]
  async function freeze(): Promise<void> {
    frozen = true
    await signal('SIGSTOP')
  }
  async function thaw(): Promise<void> {
    frozen = false
    await signal('SIGCONT')
  }
  async function startAgain(): Promise<void> {
    await start()
    halted = false
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    pid: await pid(),
    freeze,
    thaw,
    async halt() {
      await halt()
      halted = true
    },
    start: startAgain,
    async restore() {
      if (frozen) await thaw()
      if (halted) await startAgain()
    },
    async stop() {
      if (frozen) await signal('SIGCONT')
      if (!halted) await halt()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The address of a new database on the server at `url`: an empty one, or a copy of another. */
export async function freshDatabase(url: string, template = 'template1'): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // As files, of which the log says nothing: half the time, and 7 MB less of it for each.
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  await client.end()
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** Runs programs of PostgreSQL in a folder. They refuse to run as root: then their own user runs them. */
export async function asServerUser(folder: string): Promise<(file: string, options: string[]) => Promise<unknown>> {
  if (process.getuid?.() !== 0) return (file, options) => run(file, options)
  const users = await readFile('/etc/passwd', 'utf8')
  const [uid, gid] = /^postgres:[^:]*:(\d+):(\d+)/m.exec(users)?.slice(1).map(Number) ?? []
  if (uid === undefined || gid === undefined)
    throw new Error('Root cannot run PostgreSQL, and there is no user postgres.')
  await chown(folder, uid, gid)
  await chmod(folder, 0o755)
  return (file, options) => run(file, options, { uid, gid, cwd: folder })
}

function folderOf(binary: string): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : []
  return [...(process.env.PATH ?? '').split(delimiter), ...versions].find((folder) => existsSync(join(folder, binary)))
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
