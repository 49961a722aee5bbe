import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { neon, neonConfig } from '@neondatabase/serverless'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { neonSql } from '../../../src/stores/sql/neon.ts'

const ADDRESS = 'postgres://someone:p%C3%A4ss@ep-cool-1.eu-central-1.aws.neon.tech/shop?sslmode=require'
const EMPTY = { command: 'SELECT', rowCount: 0, fields: [], rows: [] }

interface Said {
  readonly url: string
  readonly method: string | undefined
  readonly body: unknown
  readonly headers: Record<string, string>
}

/** What is posted while `work` runs; everything is answered with nothing. */
async function saidBy(work: () => Promise<unknown>): Promise<Said[]> {
  const said: Said[] = []
  vi.stubGlobal('fetch', async (url: string, { method, body, headers }: RequestInit) => {
    const sent = JSON.parse(String(body))
    said.push({ url, method, body: sent, headers: Object.fromEntries(new Headers(headers)) })
    return Response.json(sent.queries ? { results: sent.queries.map(() => EMPTY) } : EMPTY)
  })
  await work()
  return said
}

describe('Postgres over HTTP, as Neon speaks it', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('says to the same place what the client says that Neon ships', async () => {
    const ours = neonSql({ connectionString: ADDRESS })
    const theirs = neon(ADDRESS)
    neonConfig.fetchFunction = (...given: Parameters<typeof fetch>) => fetch(...given)
    const [text, values] = ['SELECT $1::int, $2::text', ['7', null]] as const
    const own = await saidBy(async () => {
      await ours.query({ sql: text, parameters: [7, null] })
      await ours.batch([{ sql: text, parameters: [7, null] }])
    })
    const shipped = await saidBy(async () => {
      await theirs.query(text, [...values])
      await theirs.transaction([theirs.query(text, [...values])])
    })
    // Theirs names itself in the address.
    const withoutName = ({ headers, ...rest }: Said) => {
      const address = new URL(headers['neon-connection-string'] ?? '')
      address.searchParams.delete('application_name')
      return {
        ...rest,
        headers: { ...headers, 'neon-connection-string': address.href.replace(/^postgres:/, 'postgresql:') },
      }
    }
    expect(own.map(withoutName)).toEqual(shipped.map(withoutName))
    expect(own.map(({ url }) => url)).toEqual(Array(2).fill('https://api.eu-central-1.aws.neon.tech/sql'))
  })

  it.each<[string, number, string, object]>([
    [
      'a failure with its code',
      400,
      '{"message":"no such table","code":"42P01"}',
      { code: '42P01', message: 'no such table' },
    ],
    ['a failure without one', 400, '{"message":"what?"}', { message: 'The database answered with HTTP status 400.' }],
    ['a refusal in no JSON', 400, 'what?', { message: 'The database cannot be reached.' }],
    ['a failure of its own', 503, 'secret', { message: 'The database answered with HTTP status 503.' }],
    ['a way to somewhere else', 307, '', { message: 'The database answered with HTTP status 307.' }],
    ['no result', 200, '{}', { message: 'The database gave an answer that cannot be read.' }],
    ['nothing', 200, 'null', { message: 'The database gave an answer that cannot be read.' }],
    ['no JSON', 200, '<html>', { message: 'The database cannot be reached.' }],
  ])('takes %s for a failed statement', async (_, status, body, failure) => {
    const asked: IncomingHttpHeaders[] = []
    const server = createServer((request, response) => {
      asked.push(request.headers)
      response.writeHead(status, { location: '/elsewhere' }).end(body)
    }).listen(0, '127.0.0.1')
    await vi.waitFor(() => expect(server.listening).toBe(true))
    const fetchEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sql`
    const sql = neonSql({ connectionString: ADDRESS, fetchEndpoint })
    const statement = { sql: 'SELECT 1', parameters: [] }
    await expect(sql.query(statement)).rejects.toMatchObject({ name: 'SqlError', code: undefined, ...failure })
    await expect(sql.batch([statement])).rejects.toMatchObject({ name: 'SqlError', code: undefined, ...failure })
    expect(asked).toHaveLength(2)
    server.close()
  })
})
