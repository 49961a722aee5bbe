import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { findingsOf } from '../../../../src/runtimes/node/commands/doctor/doctor.node.ts'
import { skewOf } from '../../../../src/runtimes/node/commands/doctor/finding.ts'
import { databaseAdvice } from '../../../../src/runtimes/node/setup/database-advice.ts'
import { shortMemory } from '../../../../src/runtimes/node/setup/memory.node.ts'
import { SqlError } from '../../../../src/stores/sql/sql.ts'
import { certificateOf } from '../../../support/certificate.node.ts'
import { freePort, freshDatabase } from '../../../support/postgres.ts'
import { startRedis } from '../../../support/redis.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-doctor-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function statesOf(yaml: string, env: Record<string, string> = {}) {
  await writeFile(join(folder, 'gateway.yaml'), yaml)
  const found = await findingsOf({
    GATEWAY_CONFIG: join(folder, 'gateway.yaml'),
    GATEWAY_DATA_DIR: join(folder, 'data'),
    GATEWAY_MASTER_KEY: 'sk-master-key-of-the-doctor-5e1f',
    GATEWAY_SALT_KEY: 'salt-of-the-doctor-0f4d1b7a93',
    PORT: '0',
    ...env,
  })
  return Object.fromEntries(found.map(({ check, state, says }) => [check, `${state} ${says}`]))
}
const ECHO = 'model_list: [{ model_name: echo, gateway_params: { model: echo/echo } }]\n'

describe('doctor', () => {
  it('finds nothing before a first start, and makes nothing', async () => {
    const states = await statesOf(ECHO, { GATEWAY_MASTER_KEY: '', GATEWAY_SALT_KEY: '' })
    expect(Object.values(states).filter((state) => state.startsWith('fail'))).toEqual([])
    expect(states).toMatchObject({
      database: 'ok embedded; the first start makes it',
      'master key': 'ok the first start makes one',
      'salt key': expect.stringContaining('warn none is set'),
      'data folder': expect.stringContaining('will be made'),
    })
    expect(await readdir(folder)).toEqual(['gateway.yaml'])
  })

  it('names every mistake of the configuration, and a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const yaml =
      'model_list: [{ model_name: m, gateway_params: { model: openai/gpt-5, api_key: os.environ/NOT_SET } }]\n'
    const states = await statesOf(yaml, { PORT: String(port) })
    server.close()
    expect(states.configuration).toMatch(/^fail line 1: model_list\[0\]\.gateway_params\.api_key: .*NOT_SET/)
    expect(states.port).toMatch(/^warn .* is in use/)
  })

  describe.runIf(postgresUrl && redisUrl)('with PostgreSQL and Redis', () => {
    const salted = 'salt-of-the-tests-0f4d1b7a93'
    let database = ''
    withFullGateway(async () => {
      database = await freshDatabase(postgresUrl)
      return `general_settings: { database_url: '${database}' }\n${ECHO}`
    })

    it('asks both for version, distance and clock, and compares the salt key', async () => {
      const env = { REDIS_URL: String(redisUrl), DATABASE_URL: database, GATEWAY_SALT_KEY: salted }
      expect(await statesOf(ECHO, env)).toMatchObject({
        database: expect.stringMatching(/^(ok|warn) PostgreSQL \d+.*, \d+ ms away/),
        'database clock': 'ok the same time as here',
        schema: 'ok that of this build',
        'salt key': 'ok that of the database',
        redis: expect.stringMatching(/^(ok|warn) Redis \d+\.\d+\.\d+, \d+ ms away/),
        'redis clock': 'ok the same time as here',
      })
      const other = await statesOf(ECHO, {
        ...env,
        GATEWAY_SALT_KEY: 'salt-of-somebody-else-77aa01',
        REDIS_URL: 'redis://127.0.0.1:1',
      })
      expect(other['salt key']).toMatch(/^fail the database was set up under another one: set GATEWAY_SALT_KEY/)
      expect(other.redis).toBe(
        'fail cannot be asked (ECONNREFUSED): start it, or correct the host and the port in REDIS_URL',
      )
    })

    it('says what keeps a Redis from running the scripts, and changes nothing', async () => {
      const users = [
        '--user',
        'reader',
        'on',
        '>its',
        '~*',
        '+@all',
        '-@scripting',
        '--user',
        'default',
        'on',
        '>own',
        '~*',
        '+@all',
      ]
      const server = await startRedis({ args: users })
      if (!server) throw new Error('redis-server does not start')
      onTestFinished(() => server.stop())
      const as = async (user: string) =>
        (await statesOf(ECHO, { REDIS_URL: server.url.replace('//', `//${user}@`) })).redis
      expect(await as(':canary-4711')).toBe(
        'fail cannot be asked (WRONGPASS): correct the user and the password in REDIS_URL',
      )
      expect(await as('reader:its')).toMatch(/^fail cannot be asked \(NOPERM\): let its user run scripts/)
      expect(await as(':own')).toMatch(/^(ok|warn) Redis/)
    })

    it('asks for a certificate where a server wants one', async () => {
      const { cert, key } = await certificateOf('127.0.0.1')
      const [certFile, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
      await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
      const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile]
      const port = await freePort()
      const server = await startRedis({ args: ['--tls-port', String(port), ...files] })
      if (!server) throw new Error('redis-server does not start')
      onTestFinished(() => server.stop())
      const asked = async (query: string) =>
        (await statesOf(ECHO, { REDIS_URL: `rediss://127.0.0.1:${port}?${query}` })).redis
      expect(await asked('')).toMatch(/SELF_SIGNED.*: name the certificate of its authority/)
      const trusted = `sslrootcert=${certFile}`
      expect(await asked(trusted)).toMatch(/ALERT_CERTIFICATE_REQUIRED\): name a certificate that it accepts/)
      expect(await asked(`${trusted}&sslcert=${certFile}&sslkey=${keyFile}`)).toMatch(/^(ok|warn) Redis/)
      const refused = new SqlError('refused', undefined, 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')
      expect(databaseAdvice(refused)).toMatch(/^Name a certificate that the server accepts/)
    })

    it('says what keeps a database away, without its password', async () => {
      const away = await statesOf(ECHO, { DATABASE_URL: 'postgres://gateway:canary-4711@127.0.0.1:1/gateway' })
      expect(away.database).toMatch(/^fail PostgreSQL cannot be asked \(.*\)\. Start it, or correct the host/)
      expect(JSON.stringify(away)).not.toContain('canary-4711')
    })
  })

  it('a clock is told apart from a slow answer', () => {
    expect(skewOf('c', 5000, 1000, 9000).state).toBe('ok')
    expect(skewOf('c', 61_000, 1000, 1010)).toMatchObject({ state: 'warn', says: expect.stringContaining('60 s away') })
    expect(skewOf('c', 1000, 61_000, 61_010).says).toContain('-60 s away')
  })

  it('memory that is short says what is there, what is needed and what to set', () => {
    const limit = { bytes: 256 * 1024 ** 2, of: 'container' } as const
    expect(shortMemory(limit, { embedded: true, processes: 1 })).toBe(
      'the container has 256 MB, and 512 MB are needed: raise its limit, or keep the database elsewhere: DATABASE_URL, which leaves 192 MB',
    )
    expect(shortMemory(limit, { embedded: false, processes: 1 })).toBeUndefined()
    expect(shortMemory(limit, { embedded: false, processes: 4 })).toContain('start fewer processes (GATEWAY_PROCESSES)')
  })
})
