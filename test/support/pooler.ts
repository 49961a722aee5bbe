import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { asServerUser, freePort } from './postgres.ts'

export interface Pooler {
  /** The same database as that of the server, through few connections that change hands with each transaction. */
  readonly url: string
  stop(): Promise<void>
}

const PROGRAM = '/usr/sbin/pgbouncer'

export const poolerExists = existsSync(PROGRAM)

/** A PgBouncer before the PostgreSQL at `url`. In CI a missing one is a failure. */
export async function startPooler(url: string): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-pooler-'))
  const asUser = await asServerUser(folder)
  const { port: serverPort, pathname } = new URL(url)
  const [port, pidFile, settings] = [await freePort(), join(folder, 'pid'), join(folder, 'settings.ini')]
  await writeFile(
    settings,
    `[databases]
* = host=127.0.0.1 port=${serverPort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = transaction
max_client_conn = 12
default_pool_size = 2
unix_socket_dir =
pidfile = ${pidFile}
logfile = ${join(folder, 'log')}
`,
  )
  await asUser(PROGRAM, ['-q', '-d', settings])
  // The process that was started ends before the one that it leaves behind listens.
  for (let tries = 0; !(await isListening(port)) && tries < 100; tries++) await wait(50)
  return {
    url: `postgres://postgres@127.0.0.1:${port}${pathname}`,
    async stop() {
      process.kill(Number(await readFile(pidFile, 'utf8')))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
