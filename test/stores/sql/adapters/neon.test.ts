import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { neonSql } from '../../../../src/stores/sql/adapters/neon.ts'

const ADDRESS = 'postgres://someone:p%C3%A4ss@ep-cool-1.eu-central-1.aws.neon.tech/shop?sslmode=require'

describe('Postgres over HTTP, as Neon speaks it', () => {
  it.each<[string, number, string, object]>([
    [
      'a failure with its code',
      400,
      '{"message":"no such table","code":"42P01"}',
      { code: '42P01', message: 'no such table' },
    ],
    [
      'a failure without one',
      400,
      '{"message":"what?"}',
      { message: 'The database gave an answer that cannot be read.' },
    ],
    ['a refusal in no JSON', 400, 'what?', { message: 'The database gave an answer that cannot be read.' }],
    ['a failure of its own', 503, 'secret', { message: 'The database answered with HTTP status 503.' }],
    ['a way to somewhere else', 307, '', { message: 'The database answered with HTTP status 307.' }],
    ['no result', 200, '{}', { message: 'The database gave an answer that cannot be read.' }],
    ['nothing', 200, 'null', { message: 'The database gave an answer that cannot be read.' }],
    ['no JSON', 200, '<html>', { message: 'The database gave an answer that cannot be read.' }],
  ])('takes %s for a failed statement', async (_, status, body, failure) => {
    const asked: IncomingHttpHeaders[] = []
    const server = createServer((request, response) => {
      asked.push(request.headers)
      response.writeHead(status, { location: '/elsewhere' }).end(body)
    }).listen(0, '127.0.0.1')
    await expect.poll(() => server.listening).toBe(true)
    const fetchEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sql`
    const sql = neonSql({ connectionString: ADDRESS, fetchEndpoint })
    const statement = { sql: 'SELECT 1', parameters: [] }
    await expect(sql.query(statement)).rejects.toMatchObject({ name: 'SqlError', code: undefined, ...failure })
    await expect(sql.batch([statement])).rejects.toMatchObject({ name: 'SqlError', code: undefined, ...failure })
    expect(asked).toHaveLength(2)
    server.close()
  })

  it('takes an answer that stops in the middle for none', async () => {
    const server = createServer((_, response) => response.writeHead(200).write('{"rows":')).listen(0, '127.0.0.1')
    await expect.poll(() => server.listening).toBe(true)
    const fetchEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sql`
    const sql = neonSql({ connectionString: ADDRESS.replace('cool-1', 'cool-2'), fetchEndpoint, timeoutMs: 100 })
    const statement = { sql: 'SELECT 1', parameters: [] }
    const silence = { name: 'SqlError', code: undefined, message: 'The database did not answer within 100 ms.' }
    await expect(sql.query(statement)).rejects.toMatchObject(silence)
    await expect(sql.batch([statement])).rejects.toMatchObject(silence)
    server.closeAllConnections()
    server.close()
  })
})
