import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { alsoSignedIn, browser, type Person, type SignedIn, signedIn } from '../../../support/people.ts'
import { enroll, stepNow, totp, wrongCode } from '../../../support/second-factor.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

describe('the second factor', () => {
  const gateway = withFullGateway('model_list: [{ model_name: m, gateway_params: { model: echo/m } }]')

  const somebody = (person: Person = {}) => signedIn(gateway, person)

  const another = (of: SignedIn) => alsoSignedIn(gateway, of)
  const standing = async (page: SignedIn) => (await page.ask('GET', '/auth/me')).body.standing
  const refusal = async (asked: ReturnType<SignedIn['ask']>) => {
    const { status, body } = await asked
    return [status, body.error?.code]
  }
  const WRONG = [401, 'invalid_mfa_code']

  it('is set up by a code of the authenticator, and verifies the session that did it by a new token', async () => {
    const page = await somebody()
    const other = await another(page)
    expect(await standing(other)).toBe('complete')
    const started = await page.ask('POST', '/auth/mfa/enroll/start')
    expect(started.status).toBe(200)
    expect(started.headers.get('cache-control')).toBe('no-store')
    const { secret, otpauth_url } = started.body
    const url = new URL(otpauth_url)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ secret, algorithm: 'SHA1', digits: '6', period: '30' })
    expect(url.searchParams.get('issuer')).toMatch(/^Model gateway 127\.0\.0\.1 \d+$/)
    expect(decodeURIComponent(url.pathname)).toContain(page.email)
    // Nothing counts before it is confirmed.
    expect(await standing(page)).toBe('complete')
    expect(await refusal(page.ask('POST', '/auth/mfa/verify', { code: totp(secret) }))).toEqual([
      409,
      'mfa_not_enabled',
    ])
    expect(await refusal(page.ask('POST', '/auth/mfa/enroll/confirm', { code: wrongCode(secret) }))).toEqual(WRONG)

    const { token } = page
    const confirmed = await page.ask('POST', '/auth/mfa/enroll/confirm', { code: totp(secret) })
    expect([confirmed.status, confirmed.body.mfa_enabled]).toEqual([200, true])
    expect(new Set(confirmed.body.recovery_codes).size).toBe(10)
    for (const code of confirmed.body.recovery_codes) expect(code).toMatch(/^[0-9a-z]{5}-[0-9a-z]{5}$/)
    expect(page.token).not.toBe(token)
    expect(confirmed.headers.get('set-cookie')).toMatch(/^gateway_session=[\w-]{48}; Path=\/; Max-Age=\d+; HttpOnly/)
    expect((await browser(gateway.url, token).ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    expect((await page.ask('GET', '/auth/me')).body).toMatchObject({
      mfa_enabled: true,
      mfa_verified: true,
      standing: 'complete',
    })
    // The account has changed, and with it what the other session may do.
    expect(await standing(other)).toBe('unverified')
    expect(await refusal(other.ask('GET', '/auth/sessions'))).toEqual([403, 'mfa_required'])
    // The code has been used up.
    expect(await refusal(other.ask('POST', '/auth/mfa/verify', { code: totp(secret) }))).toEqual(WRONG)
  })

  it('is started anew with another secret, and not at all where there is one', async () => {
    const page = await somebody()
    const first = (await page.ask('POST', '/auth/mfa/enroll/start')).body
    const second = (await page.ask('POST', '/auth/mfa/enroll/start')).body
    expect(second.secret).not.toBe(first.secret)
    expect(await refusal(page.ask('POST', '/auth/mfa/enroll/confirm', { code: totp(first.secret) }))).toEqual(WRONG)
    const code = totp(second.secret)
    expect((await page.ask('POST', '/auth/mfa/enroll/confirm', { code })).status).toBe(200)
    expect(await refusal(page.ask('POST', '/auth/mfa/enroll/start'))).toEqual([409, 'mfa_enabled'])
    const again = totp(second.secret, stepNow() + 1)
    expect(await refusal(page.ask('POST', '/auth/mfa/enroll/confirm', { code: again }))).toEqual([409, 'mfa_enabled'])
    expect(await standing(page)).toBe('complete')
  })

  it('verifies a session by a code or a recovery code, each once', async () => {
    const page = await somebody()
    const { secret, recoveryCodes } = await enroll(page)
    const [byCode, byRecovery, late] = [await another(page), await another(page), await another(page)]
    const code = totp(secret, stepNow() + 1)
    const { token } = byCode
    const verified = await byCode.ask('POST', '/auth/mfa/verify', { code })
    expect([verified.status, verified.body.standing, verified.body.mfa_verified]).toEqual([200, 'complete', true])
    expect(byCode.token).not.toBe(token)
    expect((await browser(gateway.url, token).ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    const typed = String(recoveryCodes[3]).toUpperCase().replace('-', '')
    expect((await byRecovery.ask('POST', '/auth/mfa/verify', { code: typed })).status).toBe(200)
    for (const used of [code, typed, wrongCode(secret), 'abcde-fghjk']) {
      expect(await refusal(late.ask('POST', '/auth/mfa/verify', { code: used })), used).toEqual(WRONG)
    }
    expect(await standing(late)).toBe('unverified')
    const [row] = await rowsOf(
      gateway.sql,
      sql<{ left: string }>`SELECT count(*) AS left FROM gateway_recovery_code WHERE account_id = ${page.accountId}`,
    )
    expect(row?.left).toBe('9')
  })

  it('gives new recovery codes for a code, and the old ones are worth nothing', async () => {
    const page = await somebody()
    const { recoveryCodes } = await enroll(page)
    const [first, second] = recoveryCodes
    const renewed = await page.ask('POST', '/auth/mfa/recovery-codes', { code: first })
    expect([renewed.status, renewed.body.recovery_codes.length]).toEqual([200, 10])
    expect(await refusal(page.ask('POST', '/auth/mfa/recovery-codes', { code: second }))).toEqual(WRONG)
    const codes = { code: renewed.body.recovery_codes[9] }
    expect((await page.ask('POST', '/auth/mfa/recovery-codes', codes)).status).toBe(200)
  })

  it('is disabled by a code, with everything that belongs to it', async () => {
    const page = await somebody()
    const { secret, recoveryCodes } = await enroll(page)
    const other = await another(page)
    expect(await refusal(other.ask('POST', '/auth/mfa/disable', { code: recoveryCodes[0] }))).toEqual([
      403,
      'mfa_required',
    ])
    expect(await refusal(page.ask('POST', '/auth/mfa/disable', { code: wrongCode(secret) }))).toEqual(WRONG)
    const disabled = await page.ask('POST', '/auth/mfa/disable', { code: recoveryCodes[0] })
    expect([disabled.status, disabled.body]).toEqual([200, { mfa_enabled: false }])
    expect((await page.ask('GET', '/auth/me')).body).toMatchObject({ mfa_enabled: false, standing: 'complete' })
    expect(await refusal(page.ask('POST', '/auth/mfa/disable', { code: recoveryCodes[1] }))).toEqual([
      409,
      'mfa_not_enabled',
    ])
    const [row] = await rowsOf(
      gateway.sql,
      sql`SELECT totp_sealed, totp_confirmed_at,
          (SELECT count(*) FROM gateway_recovery_code AS code WHERE code.account_id = account.account_id) AS codes
        FROM gateway_account AS account WHERE account_id = ${page.accountId}`,
    )
    expect(row).toEqual({ totp_sealed: null, totp_confirmed_at: null, codes: '0' })
  })

  it('that was set up anew has to be proved by sessions that had proved the former one', async () => {
    const page = await somebody()
    const { recoveryCodes } = await enroll(page)
    const other = await another(page)
    await other.ask('POST', '/auth/mfa/verify', { code: recoveryCodes[0] })
    expect(await standing(other)).toBe('complete')
    await page.ask('POST', '/auth/mfa/disable', { code: recoveryCodes[1] })
    // At once, in the same time step: the new secret has codes of its own.
    await enroll(page)
    expect([await standing(page), await standing(other)]).toEqual(['complete', 'unverified'])
  })

  it('can be taken away by an administrator, which ends the sessions of the account', async () => {
    const page = await somebody()
    const { secret, recoveryCodes } = await enroll(page)
    const admin = await somebody({ role: 'platform_admin' })
    const path = `/ui/api/accounts/${page.accountId}/reset-mfa`
    expect((await page.ask('POST', path)).status).toBe(403)
    const reset = await admin.ask('POST', path)
    expect([reset.status, reset.body]).toEqual([200, { account_id: page.accountId, mfa_enabled: false, ended: 1 }])
    expect((await page.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    const back = await another(page)
    expect(await standing(back)).toBe('complete')
    for (const code of [totp(secret), recoveryCodes[0]]) {
      expect(await refusal(back.ask('POST', '/auth/mfa/verify', { code }))).toEqual([409, 'mfa_not_enabled'])
    }
    for (const id of ['nobody', '%00', '%ED%A0%80', "%27%3b--'"]) {
      expect([400, 404], id).toContain((await admin.ask('POST', `/ui/api/accounts/${id}/reset-mfa`)).status)
    }
  })

  it('takes nothing that is no code, and fails at nothing', async () => {
    const page = await somebody()
    await enroll(page)
    const strange = [
      '１２３４５６',
      '١٢٣٤٥٦',
      '12345\0',
      '\0',
      '123456\n',
      '\ud800',
      'null',
      '-',
      "';--",
      '1e5'.padEnd(6),
    ]
    const bodies = [
      ...strange.map((code) => ({ code })),
      ...['1'.repeat(65_536), '', 123456, ['123456'], { $gt: '' }, null, true].map((code) => ({ code })),
      { code: '123456', account_id: 'x' },
      {},
      [],
      'text',
      null,
    ]
    for (const path of ['enroll/confirm', 'verify', 'disable', 'recovery-codes']) {
      for (const body of bodies) {
        const { status } = await page.ask('POST', `/auth/mfa/${path}`, body)
        expect([400, 401, 409], `${path} ${JSON.stringify(body).slice(0, 40)} ${status}`).toContain(status)
      }
    }
    expect((await page.ask('GET', '/auth/me')).body.mfa_enabled).toBe(true)
  })

  it('belongs to accounts: a session of the master key has none', async () => {
    const page = browser(gateway.url)
    await page.ask('POST', '/auth/internal/login', { master_key: MASTER_KEY })
    for (const path of ['enroll/start', 'enroll/confirm', 'verify', 'disable', 'recovery-codes']) {
      expect(await refusal(page.ask('POST', `/auth/mfa/${path}`, { code: '123456' }))).toEqual([403, 'no_account'])
    }
  })

  it('writes its events, and no secret or code into any', async () => {
    const page = await somebody()
    const admin = await somebody({ role: 'platform_admin' })
    const { secret, recoveryCodes } = await enroll(page)
    const wrong = wrongCode(secret)
    await page.ask('POST', '/auth/mfa/verify', { code: wrong })
    await page.ask('POST', '/auth/mfa/verify', { code: recoveryCodes[0] })
    const renewed = await page.ask('POST', '/auth/mfa/recovery-codes', { code: recoveryCodes[1] })
    await page.ask('POST', '/auth/mfa/disable', { code: renewed.body.recovery_codes[0] })
    await admin.ask('POST', `/ui/api/accounts/${page.accountId}/reset-mfa`)
    await gateway.idle()
    const events = async () =>
      rowsOf(
        gateway.sql,
        sql<{ action: string; status: number; actor_id: string }>`
          SELECT * FROM gateway_audit_event WHERE resource_id = ${page.accountId} ORDER BY occurred_at, event_id`,
      )
    const deadline = Date.now() + 15_000
    while ((await events()).length < 7 && Date.now() < deadline) await wait(50)
    const told = await events()
    const own = page.accountId
    expect(told.map(({ action, status, actor_id }) => [action, status, actor_id]).sort()).toEqual(
      [
        ['account.mfa_enroll_start', 200, own],
        ['account.mfa_enable', 200, own],
        ['account.mfa_verify', 401, own],
        ['account.mfa_verify', 200, own],
        ['account.recovery_codes', 200, own],
        ['account.mfa_disable', 200, own],
        ['account.reset_mfa', 200, admin.accountId],
      ].sort(),
    )
    const text = JSON.stringify(told)
    for (const canary of [secret, wrong, ...recoveryCodes, ...renewed.body.recovery_codes]) {
      expect(text).not.toContain(canary)
      expect(text).not.toContain(canary.replace('-', ''))
    }
  })
})
