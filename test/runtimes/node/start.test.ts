import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { preparedDatabaseIn } from '../../support/embedded-database.node.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { type GatewayProcess, type Place, place } from './gateway-process.ts'

const ECHO = 'model_list:\n  - model_name: echo\n    gateway_params:\n      model: echo/echo\n'
const postgresUrl = inject('postgresUrl')

let here: Place
beforeEach(async () => {
  here = await place()
})
afterEach(() => here.clear())

async function readiness(gateway: GatewayProcess) {
  const response = await gateway.fetch('/health/readiness')
  return { status: response.status, body: (await response.json()) as { checks: { database: boolean } } }
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const started = performance.now()
  const result = await work()
  return [result, Math.round(performance.now() - started)]
}

/** The most memory that a process has had so far; 0 on systems that do not tell. */
async function mostMegabytes({ pid }: GatewayProcess): Promise<number> {
  const told = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(told)?.[1] ?? 0) / 1024)
}

describe('a first start', () => {
  it('makes a master key, shows it once and keeps it for its owner only; later starts are quicker', async () => {
    const env = { GATEWAY_MASTER_KEY: '', NODE_COMPILE_CACHE: join(here.folder, 'compiled') }
    const first = await here.start({ yaml: ECHO, env })
    const [greeting, coldMs] = await timed(() => first.greeted())
    const base = (await first.base()).replace('127.0.0.1', 'localhost')
    expect(greeting).toContain(`gateway   ${base}/v1`)
    expect(greeting).toContain(`console   ${base}/console\n`)
    expect(greeting).toMatch(/^welcome +http:\S+\/console\/welcome#\S{20,} /m)
    expect(greeting).toContain(`docs      ${base}/docs`)
    expect(greeting).toContain(`metrics   ${base}/metrics`)
    const key = /^key +(sk-\S{48}) /m.exec(greeting)?.[1] ?? ''
    expect(key).not.toBe('')
    const keys = join(here.folder, 'data/keys.json')
    expect((await stat(keys)).mode & 0o777).toBe(0o600)
    expect((await stat(join(here.folder, 'data'))).mode & 0o777).toBe(0o700)
    expect(await readFile(keys, 'utf8')).toContain(key)
    const authorization = `Bearer ${key}`
    expect((await first.chat({ model: 'echo' }, { headers: { authorization } })).status).toBe(200)
    expect(await mostMegabytes(first)).toBeLessThan(512)
    first.kill('SIGTERM')
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect((await readdir(join(here.folder, 'compiled'))).length).toBeGreaterThan(0)

    const second = await here.start({ yaml: ECHO, env })
    const [again, warmMs] = await timed(() => second.greeted())
    expect(again).not.toContain('sk-')
    expect((await second.chat({ model: 'echo' }, { headers: { authorization } })).status).toBe(200)
    expect((await second.chat({ model: 'echo' })).status).toBe(401)
    expect(await mostMegabytes(second)).toBeLessThan(320)
    second.kill('SIGTERM')
    await second.ended
    expect(first.errors() + second.errors()).toBe('')

    process.stdout.write(`from the start to the greeting: ${coldMs} ms on a fresh folder, ${warmMs} ms on a used one\n`)
    expect(coldMs).toBeLessThan(25_000)
    expect(warmMs).toBeLessThan(10_000)
  }, 60_000)

  it('answers calls that come while the database is being set up, and is ready only then', async () => {
    const gateway = await here.start({ yaml: ECHO })
    const [, listeningMs] = await timed(() => gateway.base())
    expect(await readiness(gateway)).toMatchObject({ status: 503, body: { checks: { database: false } } })
    const answered = await gateway.chat({ model: 'echo' })
    expect(answered.status).toBe(200)
    await gateway.greeted()
    expect(await readiness(gateway)).toMatchObject({ status: 200, body: { checks: { database: true } } })
    process.stdout.write(`from the start to listening: ${listeningMs} ms\n`)
  }, 60_000)

  it('that is stopped before its database is there ends well, and the next one works', async () => {
    const gateway = await here.start({ yaml: ECHO })
    await gateway.base()
    gateway.kill('SIGTERM')
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    expect(gateway.errors()).toBe('')
    const next = await here.start({ yaml: ECHO })
    await next.greeted()
  }, 60_000)
})

describe('a data folder', () => {
  it('belongs to one gateway at a time: a second one is refused before it listens', async () => {
    await preparedDatabaseIn(join(here.folder, 'data/postgres'))
    const first = await here.start()
    await first.base()
    const second = await here.start()
    expect(await second.ended).toEqual({ code: 1, signal: null })
    expect(second.errors()).toMatch(
      new RegExp(`^The gateway cannot start: .*postgres is held by process ${first.pid}\\. .*\\n$`),
    )
    expect(second.output()).toBe('')
    await first.greeted()
  }, 60_000)

  it('is its owner’s alone, with all that the database lays out and writes; one made earlier becomes so', async () => {
    const openToOthers = async () => {
      const entries = await readdir(join(here.folder, 'data'), { recursive: true, withFileTypes: true })
      const modes = await Promise.all(
        entries.map(async ({ parentPath, name }) => [name, (await stat(join(parentPath, name))).mode & 0o077] as const),
      )
      expect(modes.length).toBeGreaterThan(900)
      // Its cache of the catalog PGlite writes anew with a mode of its own, inside of folders that are closed.
      return modes.filter(([name, mode]) => mode !== 0 && name !== 'pg_internal.init')
    }
    const first = await here.start({ yaml: ECHO })
    await first.greeted()
    await first.fetch('/ui/api/keys', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    expect(await openToOthers()).toEqual([])
    await here.end()

    const postgres = join(here.folder, 'data/postgres')
    await chmod(join(postgres, 'PG_VERSION'), 0o666)
    await chmod(join(postgres, 'base'), 0o755)
    await chmod(postgres, 0o755)
    const second = await here.start({ yaml: ECHO })
    await second.greeted()
    expect(await openToOthers()).toEqual([])
  }, 60_000)

  it('is open again after kill -9 in the middle of calls, whatever its lock and process id look like', async () => {
    await preparedDatabaseIn(join(here.folder, 'data/postgres'))
    const first = await here.start({ yaml: ECHO })
    await first.greeted()
    const calls = Array.from({ length: 50 }, () => first.chat({ model: 'echo' }).catch(() => undefined))
    await Promise.race(calls)
    first.kill('SIGKILL')
    await Promise.all(calls)
    expect(await first.ended).toEqual({ code: null, signal: 'SIGKILL' })
    // The id was given to another process, which is alive: this one.
    await writeFile(join(here.folder, 'data/postgres.pid'), String(process.pid))
    expect((await stat(join(here.folder, 'data/postgres.lock'))).isFile()).toBe(true)

    const second = await here.start({ yaml: ECHO })
    await second.greeted()
    expect((await second.chat({ model: 'echo' })).status).toBe(200)
    expect(await readiness(second)).toMatchObject({ status: 200 })
  }, 60_000)
})

describe('what cannot start says why in one sentence and ends with 1', () => {
  let taken: Server
  let takenPort: string
  beforeEach(async () => {
    taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    takenPort = String((taken.address() as { port: number }).port)
  })
  afterEach(() => new Promise((resolve) => taken.close(resolve)))

  interface Mistake {
    env?: Record<string, string>
    yaml?: string
    sentence: RegExp
  }
  const mistakes: Record<string, () => Mistake | Promise<Mistake>> = {
    'a port that is no number': () => ({ env: { PORT: '80a' }, sentence: /PORT is '80a', which is not a port number/ }),
    'a port beyond the last': () => ({ env: { PORT: '65536' }, sentence: /PORT is '65536', which is not/ }),
    'a port that is in use': () => ({
      env: { PORT: takenPort },
      sentence: new RegExp(`port ${takenPort} of 127\\.0\\.0\\.1 is in use\\. Set PORT`),
    }),
    'a host that is not here': () => ({ env: { HOST: '203.0.113.7' }, sentence: /HOST is not an address of this/ }),
    'a drain time that is no number': () => ({
      env: { GATEWAY_DRAIN_SECONDS: 'long' },
      sentence: /GATEWAY_DRAIN_SECONDS is 'long', which is not a number of seconds/,
    }),
    'no configuration file': () => ({
      env: { GATEWAY_CONFIG: '/nowhere/gateway.yaml' },
      sentence: /There is no configuration file at \/nowhere\/gateway\.yaml\. Set GATEWAY_CONFIG/,
    }),
    'a folder for a configuration file': () => ({
      env: { GATEWAY_CONFIG: here.folder },
      sentence: /cannot be read \(EISDIR\)/,
    }),
    'mistakes in the configuration': () => ({
      yaml: 'model_lists: []\n',
      sentence: /gateway\.yaml has a mistake\.\n {2}line 1: model_lists: .*did you mean 'model_list'\?/,
    }),
    'a data folder that is a file': async () => {
      const file = join(here.folder, 'file')
      await writeFile(file, '')
      return { env: { GATEWAY_DATA_DIR: join(file, 'data') }, sentence: /The data folder .* cannot be written to/ }
    },
    'a damaged key file': async () => {
      await mkdir(join(here.folder, 'data'))
      await writeFile(join(here.folder, 'data/keys.json'), '{')
      return { sentence: /keys\.json is damaged\. Restore it, or remove it/ }
    },
    'a folder that holds something else than a database': async () => {
      await mkdir(join(here.folder, 'data/postgres'), { recursive: true })
      await writeFile(join(here.folder, 'data/postgres/letter'), 'mine')
      return { sentence: /postgres is not empty and holds no database\. Choose another/ }
    },
    'a database that is damaged': async () => {
      await mkdir(join(here.folder, 'data/postgres'), { recursive: true })
      await writeFile(join(here.folder, 'data/postgres/PG_VERSION'), '18\n')
      return { sentence: /The embedded database in .* cannot be opened/ }
    },
    'a master key that is too weak': () => ({ env: { GATEWAY_MASTER_KEY: 'sk-1234' }, sentence: /master_key: / }),
  }

  it.each(Object.keys(mistakes))('%s', async (name) => {
    const { sentence, ...options } = await (mistakes[name] as () => Mistake | Promise<Mistake>)()
    const gateway = await here.start(options)
    expect(await gateway.ended).toEqual({ code: 1, signal: null })
    expect(gateway.errors()).toMatch(/^The gateway cannot start: /)
    expect(gateway.errors()).toMatch(sentence)
    expect(gateway.errors()).not.toMatch(/^\s+at /m)
  })

  it.runIf(process.getuid?.() !== 0)('a data folder that belongs to somebody else', async () => {
    await mkdir(join(here.folder, 'data'), { mode: 0o500 })
    const gateway = await here.start()
    expect(await gateway.ended).toEqual({ code: 1, signal: null })
    expect(gateway.errors()).toMatch(/cannot be written to \(EACCES\)/)
  })
})

describe.skipIf(postgresUrl === '')('a database elsewhere', () => {
  it('that comes later than the gateway is waited for', async () => {
    const url = new URL(await freshDatabase(postgresUrl))
    const target = Number(url.port)
    const { port, listen, close } = await laterPort(target)
    url.port = String(port)
    // A folder that nobody can write to is missed by records that wait, and keeps no gateway from starting.
    const salt = 'a-salt-key-of-its-own-9be2'
    const env = { DATABASE_URL: url.href, GATEWAY_SALT_KEY: salt, GATEWAY_DATA_DIR: '/dev/null/data' }
    const gateway = await here.start({ yaml: ECHO, env })
    await gateway.untilLogged('database.away', 2)
    const message = expect.stringContaining('The data folder /dev/null/data cannot be written to (ENOTDIR). Set ')
    expect(gateway.logged('data_folder.not_writable')).toEqual([expect.objectContaining({ message })])
    expect(await readiness(gateway)).toMatchObject({ status: 503, body: { checks: { database: false } } })
    expect((await gateway.chat({ model: 'echo' })).status).toBe(200)
    await listen()
    await gateway.greeted()
    expect(await readiness(gateway)).toMatchObject({ status: 200 })
    gateway.kill('SIGTERM')
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    await close()
  }, 60_000)

  it('that refuses ends the start at once, and no sentence holds its password', async () => {
    const url = Object.assign(new URL(postgresUrl), { pathname: '/no_such_database', password: 'canary-5f1d' }).href
    const gateway = await here.start({ env: { DATABASE_URL: url } })
    expect(await gateway.ended).toEqual({ code: 1, signal: null })
    expect(gateway.errors()).toMatch(
      /^The gateway cannot start: the schema .*"no_such_database" does not exist\. Create it, .*\n$/,
    )
    expect(gateway.output() + gateway.errors()).not.toContain('canary-5f1d')
  })

  it('that holds something in the way of the schema ends the start', async () => {
    const url = await freshDatabase(postgresUrl)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('CREATE TABLE gateway_queue (mine int)')
    await client.end()
    const gateway = await here.start({ env: { DATABASE_URL: url } })
    expect(await gateway.ended).toEqual({ code: 1, signal: null })
    expect(gateway.errors()).toMatch(/^The gateway cannot start: the schema cannot be applied to the database: .*\n$/)
  })
})

/** A port that refuses connections until it listens, and then passes them on. */
async function laterPort(target: number) {
  const reserved = createServer()
  await new Promise<void>((resolve) => reserved.listen(0, '127.0.0.1', resolve))
  const { port } = reserved.address() as { port: number }
  await new Promise((resolve) => reserved.close(resolve))
  const proxy = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  return {
    port,
    listen: () => new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve)),
    close: () => new Promise((resolve) => proxy.close(resolve)),
  }
}
