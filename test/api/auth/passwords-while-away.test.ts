import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { keptCheaply, PASSWORD } from '../../support/passwords.ts'
import { browser, type SignedIn, signedIn } from '../../support/people.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type Switchable, switchable } from '../../system/worker/support/switchable.ts'

const [postgresUrl, redisUrl] = [inject('postgresUrl'), inject('redisUrl')]
const NEXT = 'another horse, another staple'

describe.skipIf(!postgresUrl || !redisUrl)('passwords', { timeout: 60_000 }, () => {
  let database: Switchable
  let store: Switchable
  let gateway: FullGateway
  let person: SignedIn

  async function start(mode: string): Promise<void> {
    database = await switchable(await preparedDatabase(postgresUrl as string))
    store = await switchable(redisUrl as string)
    gateway = await startFullGateway(`
general_settings: { database_url: '${database.url}', redis_url: '${store.url}', degraded_mode: ${mode} }`)
    person = await signedIn(gateway, { passwordHash: await keptCheaply() })
  }
  afterEach(async () => {
    await database.set('open')
    await store.set('open')
    await gateway.close()
    await database.close()
    await store.close()
  })
  const login = (password: string) =>
    browser(gateway.url).ask('POST', '/auth/internal/login', { email: person.email, password })
  /** At once, for each of them waits as long as it may. */
  const everything = () =>
    Promise.all([
      login(PASSWORD),
      login('a wrong password'),
      browser(gateway.url).ask('POST', '/auth/internal/forgot-password', { email: person.email }),
      person.ask('POST', '/auth/internal/change-password', { current_password: PASSWORD, new_password: NEXT }),
    ])
  const sessionsNow = async () => {
    const rows = await rowsOf(
      gateway.sql,
      sql`SELECT FROM gateway_session WHERE account_id = ${person.accountId} AND ended_at IS NULL`,
    )
    return rows.length
  }

  describe('while the database is away', () => {
    beforeEach(() => start('fail_open'))

    it.each(['closed', 'stalled'] as const)('(%s) are answered 503, and nothing is half done', async (how) => {
      expect((await person.ask('GET', '/auth/me')).status).toBe(200)
      await database.set(how)
      for (const { status, body, headers } of await everything()) {
        expect([status, body.error?.code]).toEqual([503, 'database_unavailable'])
        expect(headers.get('retry-after')).toMatch(/^\d+$/)
        expect(headers.getSetCookie()).toEqual([])
      }
      await database.set('open')
      await expect.poll(async () => (await login(PASSWORD)).status, { timeout: 15_000 }).toBe(200)
      expect((await person.ask('GET', '/auth/me')).body.authenticated).toBe(true)
    })
  })

  describe('while the shared store is away', () => {
    it('and calls fail closed, are answered 503, and nothing is half done', async () => {
      await start('fail_closed')
      await store.set('closed')
      for (const { status, body } of await everything())
        expect([status, body.error?.code]).toEqual([503, 'store_unavailable'])
      expect(await sessionsNow()).toBe(1)
    })

    it('and calls fail open, are guessed ten times a minute all the same', async () => {
      await start('fail_open')
      await store.set('closed')
      const statuses: number[] = []
      for (let time = 0; time < 12; time++) statuses.push((await login('a wrong password')).status)
      expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    })
  })
})
