import { type AddressInfo, createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { jsonLog } from '../../../../src/lib/log.ts'
import { prepareDatabase, startingSql } from '../../../../src/runtimes/node/setup/starting-sql.ts'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { type Sql, SqlError } from '../../../../src/stores/sql/sql.ts'
import { isPoison } from '../../../../src/telemetry/delivery/poison.ts'
import { certificateOf } from '../../../support/certificate.node.ts'

const silent = jsonLog('silent', () => {})
const SELECT = { sql: 'SELECT 1', parameters: [] }

function failing(...errors: (Error | undefined)[]): Sql & { asked: number } {
  const sql = {
    asked: 0,
    async query() {
      const error = errors[Math.min(sql.asked++, errors.length - 1)]
      if (error) throw error
      return { rows: [{}], affected: 0 }
    },
    batch: async () => [],
    ping: async () => {},
    close: async () => {},
  } as Sql & { asked: number }
  return sql
}

describe('prepareDatabase', () => {
  it.each([
    ['no connection', undefined],
    ['starting up', '57P03'],
    ['no connection left', '53300'],
    ['an error inside, as without room to open a session', 'XX000'],
  ])('asks again: %s', async (_, code) => {
    const sql = failing(new SqlError('away', code), undefined)
    await prepareDatabase(sql, 'SELECT 1;', { patienceMs: 5000, log: silent, saltKeys: {} })
    expect(sql.asked).toBe(2)
  })

  it('gives up with a sentence when its patience is over', async () => {
    const started = performance.now()
    const preparing = prepareDatabase(failing(new SqlError('The database cannot be reached (ECONNREFUSED).')), '', {
      patienceMs: 1000,
      log: silent,
      saltKeys: {},
    })
    await expect(preparing).rejects.toThrow(
      'the database has not been there for 1 seconds: The database cannot be reached (ECONNREFUSED).',
    )
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  it.each([
    ['28P01', 'password authentication failed', 'Correct the user and the password'],
    ['28000', 'no pg_hba.conf entry for host "::1", no encryption', 'Add ?sslmode=require'],
    ['28000', 'no pg_hba.conf entry for host "::1", SSL encryption', 'Let this machine in'],
    ['3D000', 'database "gateway" does not exist', 'Create it'],
    ['42501', 'permission denied for schema public', 'owner of the database'],
    ['3F000', 'no schema has been selected to create in', 'CREATE SCHEMA'],
    ['22P05', 'character with byte sequence 0xe2 in encoding "…"', "ENCODING 'UTF8'"],
    ['53100', 'could not extend file', 'Make room'],
    ['28000', 'connection requires a valid client certificate', 'Name a certificate of that user'],
    [undefined, 'The database cannot be reached (SELF_SIGNED_CERT_IN_CHAIN).', 'sslrootcert=FILE'],
    [undefined, 'The database cannot be reached (CERT_HAS_EXPIRED).', 'Renew the certificate of the server'],
  ])('asks only once what refuses, and says what to do: %s, %s', async (code, message, advice) => {
    const unconnected = /\((\w+)\)\.$/.exec(message)?.[1]
    const sql = failing(new SqlError(message, code, unconnected))
    const preparing = prepareDatabase(sql, '', { patienceMs: 5000, log: silent, saltKeys: {} })
    await expect(preparing).rejects.toThrow(`: ${message.replace(/\.$/, '')}. `)
    await expect(preparing).rejects.toThrow(advice)
    expect(sql.asked).toBe(1)
  })
})

describe('a database over TLS', () => {
  it.each(['sslrootcert=system', 'sslmode=require&sslrootcert=system', 'sslrootcert=system&sslmode=verify-full'])(
    'is verified by the authorities that Node trusts: %s',
    async (parameters) => {
      const certificate = await certificateOf('127.0.0.1')
      const server = createServer((socket) => {
        socket.once('data', () => {
          socket.write('S')
          new TLSSocket(socket, { isServer: true, ...certificate }).on('error', () => {})
        })
      }).listen(0, '127.0.0.1')
      await expect.poll(() => server.listening).toBe(true)
      const { port } = server.address() as AddressInfo
      const sql = nodePostgresSql({ connectionString: `postgres://one@127.0.0.1:${port}/gateway?${parameters}` })
      await expect(sql.query(SELECT)).rejects.toMatchObject({ unconnected: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
      await sql.close()
      server.close()
    },
  )
})

describe('startingSql', () => {
  it('lets a statement wait only so long', async () => {
    const sql = startingSql(failing(undefined), new Promise(() => {}), 20)
    await expect(sql.query(SELECT)).rejects.toMatchObject({ isAway: true })
    await expect(sql.batch([SELECT])).rejects.toMatchObject({ isAway: true })
  })

  it('lets statements wait and pings fail, until the database is there', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const behind = failing(undefined)
    const sql = startingSql(behind, promise)
    await expect(sql.ping(1000)).rejects.toThrow('still starting')
    const asked = sql.query(SELECT)
    await new Promise((turn) => setTimeout(turn, 20))
    expect(behind.asked).toBe(0)
    resolve()
    await asked
    expect(behind.asked).toBe(1)
    await sql.ping(1000)
  })

  it('fails what waits when it is not to be, as an absent database does, so that no record is given up', async () => {
    const sql = startingSql(failing(undefined), Promise.reject(new Error('no disk')))
    for (const asked of [sql.query(SELECT), sql.batch([SELECT])]) {
      const error = await asked.catch((thrown: unknown) => thrown)
      expect(String(error)).toContain('no disk')
      expect(error).toMatchObject({ isAway: true })
      expect(isPoison(error)).toBe(false)
    }
    await expect(sql.ping(10)).rejects.toThrow('still starting')
  })
})
