import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { keptCheaply, PASSWORD } from '../../support/passwords.ts'
import { type BrowserAnswer, browser, signedIn } from '../../support/people.ts'
import { enroll, stepNow, totp, wrongCode } from '../../support/second-factor.ts'

const LOGIN = '/auth/internal/login'
const WRONG = { status: 401, code: 'invalid_credentials' }

/** The address that a request comes from, as a proxy in front tells it. */
const from = (address: string) => ({ 'x-forwarded-for': address })
let lastAddress = 0
const elsewhere = () => from(`10.${(++lastAddress >> 16) & 255}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`)

describe('signing in with a password', { timeout: 90_000 }, () => {
  let gateway: FullGateway

  beforeAll(async () => {
    gateway = await startFullGateway(`general_settings: { trusted_proxies: ['127.0.0.0/8', '::1'] }`)
  })
  afterAll(() => gateway?.close())

  const person = async (more: Parameters<typeof signedIn>[1] = {}) =>
    signedIn(gateway, { passwordHash: await keptCheaply(), ...more })
  const login = (email: unknown, password: unknown, more: object = {}, headers = elsewhere()) =>
    browser(gateway.url).ask('POST', LOGIN, { email, password, ...more }, headers)
  const outcome = ({ status, body }: BrowserAnswer) => ({ status, code: body.error?.code })
  /** The events of an account, as soon as there are two. */
  const audited = (accountId: string) =>
    vi.waitFor(
      async () => {
        const events = await rowsOf(
          gateway.sql,
          sql<{ status: number; metadata: object; actor_id: string | null; text: string }>`
            SELECT status, metadata, actor_id, event::text AS text FROM gateway_audit_event AS event
            WHERE action = 'account.login' AND resource_id = ${accountId} ORDER BY occurred_at`,
        )
        expect(events).toHaveLength(2)
        return events
      },
      { timeout: 10_000, interval: 50 },
    )

  it('takes the second factor with the password, and says nothing of which of them was wrong', async () => {
    const somebody = await person()
    const { secret, recoveryCodes } = await enroll(somebody)
    const { email } = somebody
    const half = await login(email, PASSWORD)
    expect([half.status, half.body.standing]).toEqual([200, 'unverified'])
    expect(outcome(await login(email, PASSWORD, { mfa_code: wrongCode(secret) }))).toEqual(WRONG)
    // It was used up when the factor was set up.
    expect(outcome(await login(email, PASSWORD, { mfa_code: totp(secret, stepNow() - 1) }))).toEqual(WRONG)
    // A wrong password uses no code up.
    const code = totp(secret, stepNow() + 1)
    expect(outcome(await login(email, 'a wrong password', { mfa_code: code }))).toEqual(WRONG)
    const whole = await login(email, PASSWORD, { mfa_code: code })
    expect([whole.status, whole.body]).toMatchObject([200, { standing: 'complete', mfa_verified: true }])
    expect(outcome(await login(email, PASSWORD, { mfa_code: code }))).toEqual(WRONG)
    const recovered = await login(email, PASSWORD, { mfa_code: recoveryCodes[0] })
    expect([recovered.status, recovered.body.standing]).toEqual([200, 'complete'])
    expect(outcome(await login(email, PASSWORD, { mfa_code: recoveryCodes[0] }))).toEqual(WRONG)
  })

  it('opens a session of seven days, by a cookie that no script reads', async () => {
    const { email, accountId, userId } = await person({ role: 'platform_admin' })
    const page = browser(gateway.url)
    const opened = await page.ask('POST', LOGIN, { email, password: PASSWORD }, elsewhere())
    expect(opened.status).toBe(200)
    expect(opened.headers.getSetCookie()).toEqual([
      `gateway_session=${page.token}; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax`,
    ])
    expect(opened.headers.get('cache-control')).toBe('no-store')
    expect(opened.body).toMatchObject({
      authenticated: true,
      method: 'password',
      account_id: accountId,
      user_id: userId,
      email,
      role: 'platform_admin',
      has_password: true,
      mfa_enabled: false,
      mfa_verified: false,
      must_change_password: false,
      standing: 'complete',
    })
    expect((await page.ask('GET', '/auth/me')).body).toEqual(opened.body)
    expect((await page.ask('GET', '/ui/api/keys')).status).toBe(200)
  })

  it('finds an account by its address in any case, and notes when it was', async () => {
    const { email, accountId } = await person({ email: `Ada.${crypto.randomUUID()}@Example.com` })
    expect((await login(`  ${email.toUpperCase()} `, PASSWORD)).status).toBe(200)
    const [row] = await rowsOf(
      gateway.sql,
      sql<{ seconds: number }>`SELECT extract(epoch FROM now() - last_login_at)::int AS seconds FROM gateway_account
        WHERE account_id = ${accountId}`,
    )
    expect(row?.seconds).toBeLessThan(60)
  })

  it('finds an account however the domain of its address is written', async () => {
    const name = crypto.randomUUID()
    await person({ email: `${name}@Bücher.example` })
    // As Chromium sends what people type into a field for addresses.
    for (const domain of ['xn--bcher-kva.example', 'bücher.example', 'bu\u0308cher。example']) {
      expect((await login(`${name}@${domain}`, PASSWORD)).status, domain).toBe(200)
    }
    const { data } = (await gateway.fetch(`/ui/api/accounts?search=${name}@BÜCHER`).then((found) => found.json())) as {
      data: object[]
    }
    expect(data).toMatchObject([{ email: `${name}@Bücher.example` }])
  })

  it('takes a password however its letters are composed', async () => {
    const { email } = await person({ passwordHash: await keptCheaply('Grünes Pferd im Café') })
    expect((await login(email, 'Gru\u0308nes Pferd im Cafe\u0301')).status).toBe(200)
    expect((await login(email, 'Grunes Pferd im Cafe')).status).toBe(401)
  })

  it('answers everything that is wrong in the same words', async () => {
    const { email } = await person()
    const withoutPassword = await signedIn(gateway)
    const disabled = await person()
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_account SET state = 'disabled' WHERE account_id = ${disabled.accountId}`,
    )
    const garbled = await person({ passwordHash: 'x' })
    const refused = [
      await login(email, `${PASSWORD}!`),
      await login(email, PASSWORD.toUpperCase()),
      await login(`nobody-${email}`, PASSWORD),
      await login('no address', PASSWORD),
      await login(withoutPassword.email, PASSWORD),
      await login(disabled.email, PASSWORD),
      await login(garbled.email, PASSWORD),
      await login(email, '\ud800'.repeat(20)),
      await login(email, 'x'.repeat(4096)),
      await login(email, '\0'),
      await login(email, '‮'),
    ]
    const [first] = refused
    for (const one of refused) {
      expect(outcome(one)).toEqual(WRONG)
      expect(one.body).toEqual(first?.body)
      expect(one.headers.getSetCookie()).toEqual([])
      const names = [...one.headers.keys()].sort()
      expect(names).toEqual([...(first as BrowserAnswer).headers.keys()].sort())
      expect(one.headers.get('content-length')).toBe(first?.headers.get('content-length'))
    }
  })

  it('refuses what is no sign-in, and never fails over it', async () => {
    const { email } = await person()
    for (const [given, value] of [
      [email, 'x'.repeat(65_536)],
      [email, ['a', 'b']],
      [email, { $ne: '' }],
      [email, 12_345_678_901_234],
      [email, null],
      [email, true],
      [email, ''],
      [email, undefined],
      [[email], PASSWORD],
      [{ email }, PASSWORD],
      ['', PASSWORD],
      [undefined, PASSWORD],
      [`${email}\0`, PASSWORD],
      ['\udfff@example.com', PASSWORD],
      ['x'.repeat(65_536), PASSWORD],
    ] as const) {
      const refused = await login(given, value)
      expect(outcome(refused).status, JSON.stringify([given, value])?.slice(0, 80)).toBe(400)
      expect(JSON.stringify(refused.body)).not.toContain(PASSWORD)
    }
    for (const more of [{ master_key: MASTER_KEY }, { role: 'platform_admin' }, { mfa_code: 123456 }, { mfa_code: [] }])
      expect(outcome(await login(email, PASSWORD, more)).status, JSON.stringify(more)).toBe(400)
    for (const body of [[], 'text', 7, null, {}])
      expect((await browser(gateway.url).ask('POST', LOGIN, body, elsewhere())).status).toBe(400)
  })

  it('ends the session that the browser had, whoever it was of', async () => {
    const [one, other] = [await person(), await person()]
    const { token } = one
    const again = await one.ask('POST', LOGIN, { email: other.email, password: PASSWORD }, elsewhere())
    expect(again.body.email).toBe(other.email)
    expect(one.token).not.toBe(token)
    expect((await browser(gateway.url, token).ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    expect((await one.ask('GET', '/auth/me')).body.email).toBe(other.email)
    // A failed one ends nothing.
    expect((await one.ask('POST', LOGIN, { email: other.email, password: 'wrong' }, elsewhere())).status).toBe(401)
    expect((await one.ask('GET', '/auth/me')).body.email).toBe(other.email)
  })

  it('waits for the second factor of an account that has one', async () => {
    const { email, accountId } = await person({ role: 'platform_admin' })
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_account SET totp_sealed = 'x', totp_confirmed_at = now() WHERE account_id = ${accountId}`,
    )
    const page = browser(gateway.url)
    const opened = await page.ask('POST', LOGIN, { email, password: PASSWORD }, elsewhere())
    expect([opened.status, opened.body.standing, opened.body.mfa_verified]).toEqual([200, 'unverified', false])
    expect(outcome(await page.ask('GET', '/ui/api/keys'))).toEqual({ status: 403, code: 'mfa_required' })
  })

  it('is told in the audit with its reason, and without what was typed', async () => {
    const { email, accountId } = await person()
    await login(email, PASSWORD)
    await login(email, 'a wrong password of some length')
    const [accepted, refused] = await audited(accountId)
    expect(accepted).toMatchObject({
      status: 200,
      actor_id: accountId,
      metadata: { method: 'password', result: 'accepted' },
    })
    expect(refused).toMatchObject({
      status: 401,
      actor_id: null,
      metadata: { method: 'password', result: 'refused', reason: 'wrong_password' },
    })
    for (const { text } of [accepted, refused] as { text: string }[]) {
      expect(text).not.toContain(PASSWORD)
      expect(text).not.toContain('a wrong password')
    }
  })

  describe('is limited', () => {
    it('to ten attempts a minute for an account at an address, right or wrong, and to others not at all', async () => {
      const [{ email }, other] = [await person(), await person()]
      const here = elsewhere()
      const statuses: number[] = []
      for (let time = 0; time < 10; time++) statuses.push((await login(email, 'wrong password', {}, here)).status)
      expect(statuses).toEqual(Array(10).fill(401))
      const refused = await login(email, PASSWORD, {}, here)
      expect(outcome(refused)).toEqual({ status: 429, code: 'too_many_attempts' })
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThanOrEqual(60)
      expect((await login(email, PASSWORD)).status).toBe(200)
      expect((await login(other.email, PASSWORD, {}, here)).status).toBe(200)
    })

    it('in the same words for an account that does not exist', async () => {
      const { email } = await person()
      const answers: BrowserAnswer[] = []
      for (const who of [email, `nobody-${email}`]) {
        const here = elsewhere()
        for (let time = 0; time < 10; time++) await login(who, 'wrong password', {}, here)
        answers.push(await login(who, 'wrong password', {}, here))
      }
      expect(answers.map(outcome)).toEqual(Array(2).fill({ status: 429, code: 'too_many_attempts' }))
      expect(answers[0]?.body).toEqual(answers[1]?.body)
    })

    it('to sixty attempts a minute for an address, of which an IPv6 network is one', async () => {
      const network = () => from(`2001:db8:0:7::${(++lastAddress).toString(16)}`)
      const { email } = await person()
      const tried = await Promise.all(
        Array.from({ length: 70 }, (_, at) => login(`guess-${at}@example.com`, 'wrong password', {}, network())),
      )
      expect(tried.filter(({ status }) => status === 429)).toHaveLength(10)
      expect((await login(email, PASSWORD, {}, network())).status).toBe(429)
      expect((await login(email, PASSWORD, {}, from('2001:db8:0:8::1'))).status).toBe(200)
    })

    it('for an account over all addresses, but not at those it was signed in from', async () => {
      const { email } = await person()
      const home = elsewhere()
      expect((await login(email, PASSWORD, {}, home)).status).toBe(200)
      const guesses: number[] = []
      for (let time = 0; time < 60; time++) guesses.push((await login(email, 'wrong password')).status)
      expect(guesses.filter((status) => status === 401)).toHaveLength(49)
      expect(guesses.slice(-11)).toEqual(Array(11).fill(429))
      // Even who knows the password gets in from nowhere else; its owner does, from home.
      expect((await login(email, PASSWORD)).status).toBe(429)
      expect((await login(email, PASSWORD, {}, home)).status).toBe(200)
      // At home it is still ten a minute.
      const own: number[] = []
      for (let time = 0; time < 10; time++) own.push((await login(email, 'wrong password', {}, home)).status)
      expect(own).toEqual([...Array(8).fill(401), 429, 429])
    })
  })
})
