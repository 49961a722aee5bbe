import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { keptCheaply, PASSWORD } from '../../support/passwords.ts'
import { type Browser, browser, signedIn } from '../../support/people.ts'
import { BEHIND_PROXY, DATABASES, elsewhere } from '../../support/people-gateways.ts'

const CHANGE = '/auth/internal/change-password'
const NEXT = 'another horse, another staple'

describe.each(DATABASES)('a change of the password, in %s', { timeout: 90_000 }, (_, database) => {
  let gateway: FullGateway

  beforeAll(async () => {
    gateway = await startFullGateway(
      `general_settings: { ${[BEHIND_PROXY, await database()].filter(Boolean).join(', ')} }`,
    )
  })
  afterAll(() => gateway?.close())

  const person = async (more: Parameters<typeof signedIn>[1] = {}) =>
    signedIn(gateway, { passwordHash: await keptCheaply(), ...more })
  const change = async (page: Browser, current: unknown, next: unknown) => {
    const { status, body } = await page.ask('POST', CHANGE, { current_password: current, new_password: next })
    return { status, code: body.error?.code, param: body.error?.param, body }
  }
  const login = (email: string, password: string) =>
    browser(gateway.url).ask('POST', '/auth/internal/login', { email, password }, elsewhere())

  it('takes effect at once, ends all other sessions, and gives this one a new token', async () => {
    const one = await person({ role: 'platform_admin', mustChangePassword: true })
    const other = await login(one.email, PASSWORD)
    const [elsewhereOpen] = other.headers.getSetCookie()
    const otherPage = browser(gateway.url, /=([^;]*)/.exec(elsewhereOpen as string)?.[1])
    expect((await otherPage.ask('GET', '/auth/me')).body.standing).toBe('password_expired')
    const { token } = one
    const before = (await one.ask('GET', '/auth/me')).body

    const changed = await change(one, PASSWORD, NEXT)
    expect(changed).toMatchObject({ status: 200, body: { standing: 'complete', must_change_password: false } })
    expect(one.token).not.toBe(token)
    // It is the same session in a new place: it lives no longer than it would have.
    expect(Date.parse(changed.body.expires_at)).toBe(Date.parse(before.expires_at))
    expect((await one.ask('GET', '/ui/api/keys')).status).toBe(200)
    for (const former of [browser(gateway.url, token), otherPage])
      expect((await former.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    expect((await login(one.email, PASSWORD)).status).toBe(401)
    expect((await login(one.email, NEXT)).status).toBe(200)
  })

  it('needs the current password, and another one that is good enough', async () => {
    const one = await person()
    const refused = [
      await change(one, `${PASSWORD}!`, NEXT),
      await change(one, PASSWORD, PASSWORD),
      await change(one, PASSWORD, 'too short'),
      await change(one, PASSWORD, 'qwerty123456'),
      await change(one, PASSWORD, `my name is ${one.email.split('@')[0]}`),
      await change(one, PASSWORD, 'half a \ud800 character'),
    ]
    expect(refused.map(({ status, code, param }) => [status, code, param])).toEqual([
      [400, 'wrong_password', 'current_password'],
      [400, 'password_unchanged', 'new_password'],
      [400, 'password_too_short', 'new_password'],
      [400, 'password_too_common', 'new_password'],
      [400, 'password_contains_email', 'new_password'],
      [400, 'password_unreadable', 'new_password'],
    ])
    expect(JSON.stringify(refused)).not.toContain(PASSWORD)
    expect((await one.ask('GET', '/auth/me')).body.authenticated).toBe(true)
    expect((await login(one.email, PASSWORD)).status).toBe(200)
  })

  it('is refused what is none, and never fails over it', async () => {
    const one = await person()
    for (const [current, next] of [
      ['x'.repeat(65_536), NEXT],
      [PASSWORD, 'x'.repeat(65_536)],
      [[PASSWORD], NEXT],
      [PASSWORD, { length: 12 }],
      [null, NEXT],
      [PASSWORD, undefined],
      [PASSWORD, 123_456_789_012],
    ])
      expect((await change(one, current, next)).status).toBe(400)
    expect((await one.ask('POST', CHANGE, { current_password: PASSWORD, new_password: NEXT, role: 'x' })).status).toBe(
      400,
    )
  })

  it('is for sessions of accounts that have a password', async () => {
    const withoutPassword = await signedIn(gateway)
    expect(await change(withoutPassword, PASSWORD, NEXT)).toMatchObject({ status: 400, code: 'no_password' })
    const keyHolder = browser(gateway.url)
    expect((await change(keyHolder, PASSWORD, NEXT)).status).toBe(401)
    await keyHolder.ask('POST', '/auth/internal/login', { master_key: MASTER_KEY })
    expect(await change(keyHolder, PASSWORD, NEXT)).toMatchObject({ status: 403, code: 'no_account' })
    const masked = await gateway.fetch(CHANGE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ current_password: PASSWORD, new_password: NEXT }),
    })
    expect(masked.status).toBe(401)
  })

  it('waits for the second factor of an account that has one', async () => {
    const one = await person()
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_account SET totp_sealed = 'x', totp_confirmed_at = now(),
          version = nextval('gateway_record_version') WHERE account_id = ${one.accountId}`,
    )
    expect(await change(one, PASSWORD, NEXT)).toMatchObject({ status: 403, code: 'mfa_required' })
  })

  it('has one winner of many at once', async () => {
    const one = await person()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        browser(gateway.url, one.token).ask('POST', CHANGE, {
          current_password: PASSWORD,
          new_password: `${NEXT} number ${at}`,
        }),
      ),
    )
    const won = answers.flatMap(({ status }, at) => (status === 200 ? [at] : []))
    expect(won).toHaveLength(1)
    // The others find another password, or their session ended, or too many before them.
    expect(answers.filter(({ status }) => ![200, 400, 401, 503].includes(status))).toEqual([])
    expect((await login(one.email, `${NEXT} number ${won[0]}`)).status).toBe(200)
    const alive = await rowsOf(
      gateway.sql,
      sql`SELECT FROM gateway_session WHERE account_id = ${one.accountId} AND ended_at IS NULL`,
    )
    // The winner's, and the login's after it.
    expect(alive).toHaveLength(2)
  })

  it('is tried ten times a minute', async () => {
    const one = await person()
    const codes: string[] = []
    for (let time = 0; time < 12; time++) codes.push((await change(one, 'a wrong password', NEXT)).code)
    expect(codes).toEqual([...Array(10).fill('wrong_password'), 'too_many_attempts', 'too_many_attempts'])
  })

  it('is told in the audit, without any password', async () => {
    const one = await person()
    await change(one, 'a wrong password', NEXT)
    await change(one, PASSWORD, NEXT)
    const events = await vi.waitFor(
      async () => {
        const rows = await rowsOf(
          gateway.sql,
          sql<{ status: number; changes: object; text: string }>`
            SELECT status, changes, event::text AS text FROM gateway_audit_event AS event
            WHERE action = 'account.change_password' AND resource_id = ${one.accountId} AND actor_id = ${one.accountId}
            ORDER BY occurred_at`,
        )
        expect(rows).toHaveLength(2)
        return rows
      },
      { timeout: 10_000, interval: 50 },
    )
    expect(events).toMatchObject([
      { status: 400, changes: {} },
      { status: 200, changes: { password: { old: '…', new: '…' } } },
    ])
    for (const { text } of events) {
      for (const secret of [PASSWORD, NEXT, 'a wrong password', '$scrypt']) expect(text).not.toContain(secret)
    }
  })
})
