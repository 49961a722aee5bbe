import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { refusal } from '../../../src/runtimes/node/process/refusal.node.ts'
import { pgliteSql } from '../../../src/stores/sql/adapters/pglite.node.ts'
import { POSTGRES_MAJOR, whyNotOpened } from '../../../src/stores/sql/adapters/pglite-refusals.node.ts'
import { builtGateway } from '../../support/built-gateway.ts'
import { preparedDatabaseIn } from '../../support/embedded-database.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-refusal-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** What a start says that does not come about. `within` is a shell's command in which `$@` starts the gateway. */
async function refused(env: Record<string, string>, within = 'exec "$@"'): Promise<string> {
  const { program, compiled } = await builtGateway()
  const outcome = await new Promise<{ code: unknown; errors: string }>((resolve) => {
    const variables = {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: compiled,
      PORT: '0',
      GATEWAY_MASTER_KEY: MASTER_KEY,
      GATEWAY_DATA_DIR: join(folder, 'data'),
      ...env,
    }
    const run = ['-c', within, 'sh', process.execPath, program]
    execFile('sh', run, { env: variables, cwd: folder, timeout: 60_000 }, (error, _, errors) =>
      resolve({ code: error?.code ?? 0, errors }),
    )
  })
  expect(outcome.code, outcome.errors).toBe(1)
  expect(outcome.errors, 'one line, and no stack').toMatch(/^The gateway cannot start: .*\n$/)
  return outcome.errors
}

const prepared = async () => {
  await mkdir(join(folder, 'data'))
  await preparedDatabaseIn(join(folder, 'data/postgres'))
}

describe('a start on an embedded database', () => {
  it('of another PostgreSQL says how its records are taken over', async () => {
    await prepared()
    const version = join(folder, 'data/postgres/PG_VERSION')
    expect((await readFile(version, 'utf8')).trim()).toBe(String(POSTGRES_MAJOR))
    await writeFile(version, '99\n')
    expect(await refused({})).toMatch(
      /was made by PostgreSQL 99, and this build has \d+\. .*`export`.*GATEWAY_DATA_DIR/,
    )
  })

  it('that is damaged says to restore a backup', async () => {
    await prepared()
    await writeFile(join(folder, 'data/postgres/global/pg_control'), Buffer.alloc(8192, 7))
    expect(await refused({})).toMatch(/files are damaged .* Restore the folder from a backup/)
  })

  it('in the place of other files says to choose another folder', async () => {
    await mkdir(join(folder, 'data/postgres'), { recursive: true })
    await writeFile(join(folder, 'data/postgres/letter.txt'), 'Dear')
    expect(await refused({})).toMatch(/is not empty and holds no database\. Choose another folder/)
    expect(await readFile(join(folder, 'data/postgres/letter.txt'), 'utf8')).toBe('Dear')
  })

  it('where the data folder is a file', async () => {
    await writeFile(join(folder, 'data'), '')
    expect(await refused({})).toMatch(/cannot be written to \(EEXIST\)\. Set GATEWAY_DATA_DIR/)
  })

  it('is of the release of PostgreSQL that PGlite has', async () => {
    const sql = await pgliteSql()
    const { rows } = await sql.query<{ version: string }>({ sql: 'SHOW server_version', parameters: [] })
    await sql.close()
    expect(Number.parseInt(Object.values(rows[0] ?? {})[0] ?? '', 10)).toBe(POSTGRES_MAJOR)
  })
})

/** A disk of this size in the place of the folder `data`, which the shell's command alone sees. */
const onDiskOf = (size: string, first = '') => `mount -t tmpfs -o size=${size} tmpfs data && ${first} exec "$@"`
/** Not every machine lets a process have mounts of its own. */
const hasMounts = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

describe.runIf(hasMounts)('a start on a full disk', { timeout: 120_000 }, () => {
  const within = (script: string) => `exec unshare -rm sh -c '${script}' sh "$@"`
  beforeEach(() => mkdir(join(folder, 'data')))

  it.each(['4k', '1m', '10m', '40m'])('of %s says so, however far it came', async (size) => {
    expect(await refused({}, within(onDiskOf(size)))).toMatch(/the disk has no room left\. Make some/)
  })

  it('comes up once there is room', async () => {
    const { program, compiled } = await builtGateway()
    const script = `
      mount -t tmpfs -o size=40m tmpfs data; "$@" 2>&1
      mount -o remount,size=200m data; timeout --preserve-status 20 "$@"`
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compiled, PORT: '0', GATEWAY_DATA_DIR: 'data' }
    const run = ['-rm', 'sh', '-c', script, 'sh', process.execPath, program]
    const output = await new Promise<string>((resolve) =>
      execFile('unshare', run, { cwd: folder, env }, (_, said) => resolve(said)),
    )
    expect(output).toMatch(/no room left.*^stores +embedded PostgreSQL/ms)
  })

  it('on which there was room once says so, and keeps what there is', async () => {
    await cp(join(folder, 'data'), join(folder, 'before'), { recursive: true })
    await preparedDatabaseIn(join(folder, 'before/postgres'))
    const first = 'cp -r before/. data && { head -c 300m /dev/zero > data/fill || true; } 2>/dev/null;'
    expect(await refused({}, within(onDiskOf('120m', first)))).toMatch(/no room left|is full/)
  })
})

describe('what the file system refuses', () => {
  it.each([
    ['ENOSPC', 'no room left'],
    ['EACCES', 'chown'],
    ['EPERM', 'chown'],
    ['EROFS', 'read-only'],
  ])('%s of a file is said with what to do', (code, what) => {
    const error = Object.assign(new Error(`${code}: open '/data/keys.json'`), { code, path: '/data/keys.json' })
    expect(refusal(error, 'gateway.yaml')).toMatch(
      new RegExp(`^The gateway cannot start: /data/keys\\.json .*${what}.* GATEWAY_DATA_DIR .*\\.\n$`),
    )
  })

  it('an address that another machine has is told with the port, be it any', () => {
    const error = Object.assign(new Error(), { code: 'EADDRNOTAVAIL', syscall: 'listen', address: '10.99.99.99' })
    expect(refusal(error, 'gateway.yaml')).toContain('port 0 of 10.99.99.99 cannot be taken')
  })

  it.each([
    [51, 'no room left'],
    [2, 'EACCES.*chown -R'],
    [63, 'EPERM.*chown -R'],
    [69, 'EROFS'],
  ])('inside of the database, number %d', (errno, what) => {
    const said = whyNotOpened('/data/postgres', { name: 'ErrnoError', errno })
    expect(said.message).toMatch(new RegExp(`^The embedded database in /data/postgres cannot be opened: .*${what}`))
  })

  it('a database that may open no more files is not called damaged', () => {
    const error = new Error(", Unknown error: Too many open files '/data/postgres'")
    expect(whyNotOpened('/data/postgres', error).message).toMatch(/ulimit -n/)
  })

  it.runIf(process.platform === 'linux')(
    'a database that aborts on a full disk, after a kill, is not called damaged',
    () => {
      // Nothing can be written to /proc: it tells of no room.
      expect(whyNotOpened('/proc', new Error('Aborted()')).message).toMatch(/no room left/)
      expect(whyNotOpened('/data/postgres', new Error('Aborted()')).message).toMatch(/files are damaged \(Aborted/)
    },
  )
})
