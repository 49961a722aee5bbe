import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { alsoSignedIn, browser, type SignedIn, signedIn } from '../../../support/people.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { enroll, stepNow, totp } from '../../../support/second-factor.ts'
import { type Switchable, switchable } from '../../../system/worker/support/switchable.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')

describe.skipIf(!postgresUrl || !redisUrl)('the second factor, while something is away', () => {
  let database: Switchable
  let store: Switchable
  let gateway: FullGateway

  beforeAll(async () => {
    store = await switchable(redisUrl)
    database = await switchable(await preparedDatabase(postgresUrl))
    gateway = await startFullGateway(`
general_settings: { database_url: '${database.url}', redis_url: '${store.url}', degraded_mode: fail_closed }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]
`)
  })
  afterAll(async () => {
    await Promise.all([database?.set('open'), store?.set('open')])
    await gateway?.close()
    await Promise.all([database?.close(), store?.close()])
  })

  const kept = async ({ accountId }: SignedIn) =>
    rowsOf(
      gateway.sql,
      sql`SELECT totp_sealed, totp_confirmed_at, totp_step, version,
          (SELECT json_agg(code_hash ORDER BY code_hash) FROM gateway_recovery_code AS code
            WHERE code.account_id = account.account_id) AS codes,
          (SELECT json_agg(session_id ORDER BY session_id) FROM gateway_session AS session
            WHERE session.account_id = account.account_id AND ended_at IS NULL) AS sessions
        FROM gateway_account AS account WHERE account_id = ${accountId}`,
    )

  it.each([
    ['database', 'closed', 'database_unavailable'],
    ['database', 'stalled', 'database_unavailable'],
    ['store', 'closed', 'store_unavailable'],
    ['store', 'stalled', 'store_unavailable'],
  ] as const)(
    '(the %s is %s) says so, does nothing by halves, and takes the same code afterwards',
    async (what, how, code) => {
      const line = what === 'database' ? database : store
      const begun = await signedIn(gateway)
      await back(begun)
      const { secret: pending } = (await begun.ask('POST', '/auth/mfa/enroll/start')).body
      const person = await signedIn(gateway)
      const { secret, recoveryCodes } = await enroll(person)
      const other = await alsoSignedIn(gateway, person)
      // What the process remembers of a session must not carry it through.
      for (const page of [begun, person, other]) expect((await page.ask('GET', '/auth/me')).status).toBe(200)
      const before = [await kept(begun), await kept(person)]
      const own = { code: totp(secret, stepNow() + 1) }

      await line.set(how)
      const answers = await Promise.all([
        begun.ask('POST', '/auth/mfa/enroll/start'),
        begun.ask('POST', '/auth/mfa/enroll/confirm', { code: totp(pending) }),
        other.ask('POST', '/auth/mfa/verify', own),
        other.ask('POST', '/auth/mfa/verify', { code: recoveryCodes[0] }),
        person.ask('POST', '/auth/mfa/disable', { code: recoveryCodes[1] }),
        person.ask('POST', '/auth/mfa/recovery-codes', { code: recoveryCodes[2] }),
        ...(what === 'database' ? [administrator().ask('POST', resetOf(person))] : []),
      ])
      await line.set('open')
      for (const [at, { status, body, headers }] of answers.entries()) {
        expect([status, body.error.code], `${at}`).toEqual([503, code])
        expect(Number(headers.get('retry-after')), `${at}`).toBeGreaterThanOrEqual(1)
        expect(headers.get('set-cookie')).toBeNull()
      }
      expect([await kept(begun), await kept(person)]).toEqual(before)
      await back(other)
      expect((await other.ask('POST', '/auth/mfa/verify', own)).status).toBe(200)
    },
  )

  it('(the store is closed) is reset all the same, and other processes are told later', async () => {
    const person = await signedIn(gateway)
    await back(person)
    await enroll(person)
    await store.set('closed')
    const reset = await administrator().ask('POST', resetOf(person))
    await store.set('open')
    expect([reset.status, reset.body]).toEqual([
      202,
      { account_id: person.accountId, mfa_enabled: false, ended: 1, pending: true },
    ])
    expect(await kept(person)).toMatchObject([{ totp_sealed: null, codes: null, sessions: null }])
    await expect
      .poll(async () => (await person.ask('GET', '/auth/me')).body, { timeout: 15_000 })
      .toEqual({
        authenticated: false,
      })
  })

  const resetOf = ({ accountId }: SignedIn) => `/ui/api/accounts/${accountId}/reset-mfa`
  const administrator = () => {
    const page = browser(gateway.url)
    const headers = { authorization: `Bearer ${MASTER_KEY}` }
    return { ask: (method: string, path: string) => page.ask(method, path, {}, headers) }
  }
  /** The gateway has seen that nothing is away any more. */
  const back = (page: SignedIn) =>
    expect.poll(async () => (await page.ask('GET', '/auth/me')).status, { timeout: 15_000 }).toBe(200)
})
