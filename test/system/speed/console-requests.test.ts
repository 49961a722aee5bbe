import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configuration, echo } from '../../support/configuration.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { type Browser, browser } from '../../support/people.ts'
import { onThePath, since } from './asked.ts'
import { COUNTED_GATEWAYS, type CountedGateway, countedGatewaysExist, quiet } from './counted-gateways.ts'

/** What a request is identified by, when it has to be read. */
const IDENTITY = /gateway_(session|account|membership)/

describe.skipIf(!countedGatewaysExist())('what a warm request of a session asks of the stores', () => {
  describe.each(Object.entries(COUNTED_GATEWAYS))('%s', (name, start) => {
    let gateway: CountedGateway
    let page: Browser

    beforeAll(async () => {
      gateway = await start(
        configuration({ general_settings: { log_level: 'warn' }, model_list: [echo('echo', 'echo-1')] }),
      )
      page = browser(gateway.url)
      const person = { email: 'ann@example.com', password: 'a long way to Tipperary' }
      const first = await page.ask('POST', '/auth/bootstrap', person, { authorization: `Bearer ${MASTER_KEY}` })
      expect(first.status, JSON.stringify(first.body)).toBe(201)
      for (const path of ['/auth/me', '/ui/api/teams', '/ui/api/keys']) {
        expect((await page.ask('GET', path)).status).toBe(200)
      }
    })
    afterAll(() => gateway?.close())

    async function watched(path: string) {
      const before = await quiet(gateway)
      const answer = await page.ask('GET', path)
      expect(answer.status).toBe(200)
      const { store, sql } = since(before, await quiet(gateway))
      // Where processes share no memory, metrics are counted in the store, at most once a second and beside requests.
      const told = name.startsWith('workerd') ? store.filter((verb) => verb !== 'settle') : store
      return { store: told, sql: onThePath({ store, sql }) }
    }

    it('who is signed in: one question, no SQL', async () => {
      for (let time = 0; time < 3; time++) expect(await watched('/auth/me')).toEqual({ store: ['admit'], sql: [] })
    })

    it.each(['/ui/api/teams', '/ui/api/keys?owner=me'])(
      '%s: one question, and no SQL but for what is listed',
      async (path) => {
        const { store, sql } = await watched(path)
        expect(store).toEqual(['admit'])
        expect(sql.filter((statement) => IDENTITY.test(statement))).toEqual([])
        expect(sql).toHaveLength(1)
      },
    )

    it('a changed account is read once', async () => {
      const { account_id } = (await page.ask('GET', '/auth/me')).body
      const changed = await page.ask('PATCH', `/ui/api/accounts/${account_id}`, { must_change_password: false })
      expect(changed.status).toBe(200)
      const again = await watched('/auth/me')
      expect(again.sql).toHaveLength(1)
      expect(again.sql[0]).toMatch(/gateway_session/)
      expect(await watched('/auth/me')).toEqual({ store: ['admit'], sql: [] })
    })
  })
})
