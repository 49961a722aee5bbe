import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { neon, neonConfig } from '@neondatabase/serverless'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { startPostgresOverHttp } from '../../../src/runtimes/local/postgres-over-http.node.ts'
import { neonSql } from '../../../src/stores/sql/adapters/neon.ts'

const postgresUrl = inject('postgresUrl')
const url = inject('postgresHttpUrl')

const raw = { 'neon-raw-text-output': 'true', 'neon-array-mode': 'true' }
const post = (body: string, headers: Record<string, string>, to = url) => fetch(to, { method: 'POST', body, headers })
const asked = JSON.stringify({ query: 'SELECT 1 AS n', params: [] })

describe.skipIf(url === '')('Postgres over HTTP, in front of a server', () => {
  it('answers the client that Neon ships, with that client’s own types', async () => {
    // One setting for the process, in which the gateway's own client looks its endpoints up.
    const { fetchEndpoint } = neonConfig
    onTestFinished(() => {
      neonConfig.fetchEndpoint = fetchEndpoint
    })
    neonConfig.fetchEndpoint = url
    const sql = neon(postgresUrl)
    expect(await sql`SELECT ${7}::int AS n, now() AS at, ${{ a: [1] }}::jsonb AS j`).toStrictEqual([
      { n: 7, at: expect.any(Date), j: { a: [1] } },
    ])
    expect(await sql.transaction([sql`SELECT 1 AS a`, sql`SELECT 2 AS b`])).toStrictEqual([[{ a: 1 }], [{ b: 2 }]])
    await expect(sql`SELECT 1 / 0`).rejects.toMatchObject({ code: '22012', severity: 'ERROR' })
    await expect(sql.transaction([sql`SELECT 1`], { readOnly: true })).rejects.toMatchObject({ code: '0A000' })
  })

  it('lets in who presents its own user, password and database, whatever the host', async () => {
    const right = Object.assign(new URL(postgresUrl), { hostname: 'db.example.com', port: '5432' }).href
    const answer = await post(asked, { ...raw, 'neon-connection-string': right })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      command: 'SELECT',
      rowCount: 1,
      rows: [['1']],
      fields: [{ name: 'n' }],
    })
  })

  it.each<[string, (own: URL) => string | undefined]>([
    ['no connection string', () => undefined],
    ['no address', () => 'postgres'],
    ['another user', (own) => Object.assign(own, { username: 'other' }).href],
    ['another password', (own) => Object.assign(own, { password: 'other' }).href],
    ['another database', (own) => Object.assign(own, { pathname: '/template1' }).href],
  ])('refuses %s', async (_, change) => {
    const presented = change(new URL(postgresUrl))
    const answer = await post(asked, presented === undefined ? raw : { ...raw, 'neon-connection-string': presented })
    expect(answer.status).toBe(400)
    expect(await answer.text()).not.toContain('other')
  })

  it.each(['', '{', '[]', '{"query":1}', '{"query":"SELECT 1","params":[{}]}', '{"queries":[1]}'])(
    'refuses the body %s as unreadable',
    async (body) => {
      const answer = await post(body, { ...raw, 'neon-connection-string': postgresUrl })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ code: '08P01' })
    },
  )

  it('knows one path and one method', async () => {
    expect((await fetch(url)).status).toBe(404)
    expect((await post(asked, raw, url.replace(/sql$/, 'other'))).status).toBe(404)
  })
})

describe('Postgres over HTTP, in front of a folder', () => {
  let place: string
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'gateway-http-'))
  })
  afterAll(() => rm(place, { recursive: true, force: true }))

  it('serves what it keeps there to who presents the configured credentials', async () => {
    const own = 'postgres://gateway:pa55@embedded.test/gateway'
    const start = () => startPostgresOverHttp({ postgresUrl: own, folder: join(place, 'postgres'), port: 0 })
    for (const expected of [1, 2]) {
      const endpoint = await start()
      const sql = neonSql({ connectionString: own, fetchEndpoint: endpoint.url })
      await sql.batch([
        { sql: 'CREATE TABLE IF NOT EXISTS starts (n int)', parameters: [] },
        { sql: 'INSERT INTO starts VALUES (1)', parameters: [] },
      ])
      const { rows } = await sql.query({ sql: 'SELECT count(*)::int AS n FROM starts', parameters: [] })
      expect(rows).toStrictEqual([{ n: expected }])
      const stranger = await post(asked, { ...raw, 'neon-connection-string': own.replace('pa55', 'x') }, endpoint.url)
      expect(stranger.status).toBe(400)
      await endpoint.close()
    }
  }, 60_000)
})
