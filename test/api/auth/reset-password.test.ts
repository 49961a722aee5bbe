import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newToken } from '../../../src/lib/token.ts'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { adminApi } from '../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { type MailReceiver, startMailReceiver } from '../../support/mail-receiver.node.ts'
import { keptCheaply, PASSWORD } from '../../support/passwords.ts'
import { browser, signedIn } from '../../support/people.ts'
import { BEHIND_PROXY, DATABASES, elsewhere } from '../../support/people-gateways.ts'

const FORGOT = '/auth/internal/forgot-password'
const RESET = '/auth/internal/reset-password'
const NEXT = 'another horse, another staple'
const INVALID = { valid: false, email: null, expires_at: null }

let mail: MailReceiver
beforeAll(async () => {
  mail = await startMailReceiver()
})
afterAll(() => mail?.close())

describe.each(DATABASES)('a password that was forgotten, in %s', { timeout: 90_000 }, (_, database) => {
  let gateway: FullGateway

  beforeAll(async () => {
    const settings = [
      BEHIND_PROXY,
      `email_provider: smtp, email_from: 'gateway@example.com', email_base_url: 'https://gateway.example/'`,
      `email_smtp_host: 127.0.0.1, email_smtp_port: ${mail.port}`,
      await database(),
    ]
    gateway = await startFullGateway(`general_settings: { ${settings.filter(Boolean).join(', ')} }`)
  })
  afterAll(() => gateway?.close())

  const person = async (more: Parameters<typeof signedIn>[1] = {}) =>
    signedIn(gateway, { passwordHash: await keptCheaply(), ...more })
  const page = () => browser(gateway.url)
  const administer = adminApi(() => gateway)
  const forgot = (email: unknown, headers = elsewhere()) => page().ask('POST', FORGOT, { email }, headers)
  const reset = async (token: unknown, password: unknown = NEXT) => {
    const { status, body } = await page().ask('POST', RESET, { token, new_password: password }, elsewhere())
    return { status, code: body.error?.code, body }
  }
  const login = (email: string, password: string, headers = elsewhere()) =>
    page().ask('POST', '/auth/internal/login', { email, password }, headers)
  const look = async (token: string) => {
    const { status, body } = await page().ask('GET', `${RESET}/${token}`)
    return { status, body }
  }
  it('has its links inspected and used sixty times a minute from one address', async () => {
    const [here, there] = [elsewhere(), elsewhere()]
    const statuses: number[] = []
    for (let turn = 0; turn < 62; turn++) {
      const { status } =
        turn % 2 === 0
          ? await page().ask('GET', `${RESET}/${newToken()}`, undefined, here)
          : await page().ask('POST', RESET, { token: newToken(), new_password: NEXT }, here)
      statuses.push(status)
    }
    expect(statuses.slice(0, 60).filter((status) => status === 429)).toEqual([])
    expect(statuses.slice(60)).toEqual([429, 429])
    expect((await page().ask('GET', `${RESET}/${newToken()}`, undefined, there)).status).toBe(200)
  })

  /** The token of the last of so many links that were sent to the address. */
  async function tokenTo(email: string, count = 1): Promise<string> {
    const link = await mail.linkTo(email, count - 1)
    expect(link).toMatch(/^https:\/\/gateway\.example\/console\/reset#[\w-]{48}$/)
    return link.slice(link.indexOf('#') + 1)
  }

  it('is set anew through the link in an e-mail, which ends all sessions', async () => {
    const one = await person({ role: 'platform_admin', mustChangePassword: true })
    const { token: cookie } = one
    const asked = await forgot(`  ${one.email.toUpperCase()}`)
    expect([asked.status, asked.body]).toEqual([202, { accepted: true }])
    const token = await tokenTo(one.email)
    const looked = await look(token)
    expect(looked).toMatchObject({ status: 200, body: { valid: true, email: one.email } })
    const minutes = (Date.parse(looked.body.expires_at) - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(58)
    expect(minutes).toBeLessThan(61)
    expect(await reset(token)).toMatchObject({ status: 200, body: { reset: true } })
    expect((await browser(gateway.url, cookie).ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    expect((await login(one.email, PASSWORD)).status).toBe(401)
    const back = await login(one.email, NEXT)
    expect([back.status, back.body.must_change_password]).toEqual([200, false])
  })

  it('is set once with a link, and no other link of the account is good afterwards', async () => {
    const one = await person()
    await forgot(one.email)
    const first = await tokenTo(one.email)
    await forgot(one.email)
    const second = await tokenTo(one.email, 2)
    expect((await look(first)).body.valid).toBe(true)
    expect((await reset(second)).status).toBe(200)
    for (const token of [first, second]) {
      expect(await look(token)).toEqual({ status: 200, body: INVALID })
      expect(await reset(token, `${NEXT} again`)).toMatchObject({ status: 400, code: 'reset_token_invalid' })
    }
    expect((await login(one.email, NEXT)).status).toBe(200)
  })

  it('is not set by a password that is easy to guess, which uses up nothing', async () => {
    const one = await person()
    await forgot(one.email)
    const token = await tokenTo(one.email)
    for (const [password, code] of [
      ['short', 'password_too_short'],
      ['qwerty123456', 'password_too_common'],
      [`is ${one.email.split('@')[0]} good`, 'password_contains_email'],
    ])
      expect(await reset(token, password)).toMatchObject({ status: 400, code })
    expect((await login(one.email, PASSWORD)).status).toBe(200)
    expect((await reset(token)).status).toBe(200)
  })

  it('of an account that has none yet is set the same way', async () => {
    const one = await signedIn(gateway)
    await forgot(one.email)
    expect((await reset(await tokenTo(one.email))).status).toBe(200)
    expect((await login(one.email, NEXT)).status).toBe(200)
  })

  it('has one winner of fifty at once', async () => {
    const one = await person()
    await forgot(one.email)
    const token = await tokenTo(one.email)
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => reset(token, `${NEXT} ${at}`)))
    const won = answers.flatMap(({ status }, at) => (status === 200 ? [at] : []))
    expect(won).toHaveLength(1)
    // The others find it used, or find too many before them.
    expect(answers.filter(({ status }) => ![200, 400, 503].includes(status))).toEqual([])
    await vi.waitFor(async () => expect((await login(one.email, `${NEXT} ${won[0]}`)).status).toBe(200), 20_000)
  })

  it('leaves a link no longer than an hour, and none to an account that is not active', async () => {
    const [late, disabled] = [await person(), await person()]
    const tokens: string[] = []
    for (const { email } of [late, disabled]) {
      await forgot(email)
      tokens.push(await tokenTo(email))
    }
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_password_reset SET expires_at = now() WHERE account_id = ${late.accountId}`,
    )
    await administer('PATCH', `/accounts/${disabled.accountId}`, { state: 'disabled' })
    const refused = async () => {
      for (const token of tokens) {
        expect((await look(token)).body).toEqual(INVALID)
        expect((await reset(token)).code).toBe('reset_token_invalid')
      }
    }
    await refused()
    await forgot(disabled.email)
    await gateway.idle()
    expect(mail.received.filter(({ to }) => to.includes(disabled.email))).toHaveLength(1)
    await administer('PATCH', `/accounts/${disabled.accountId}`, { state: 'active' })
    await refused()
  })

  it('is asked for in the same words of an account that does not exist', async () => {
    const one = await person()
    const answers = [await forgot(one.email), await forgot(`nobody-${one.email}`), await forgot('no address')]
    for (const { status, body, headers } of answers) {
      expect([status, body, headers.getSetCookie()]).toEqual([202, { accepted: true }, []])
      expect([...headers.keys()].sort()).toEqual([...(answers[0]?.headers.keys() ?? [])].sort())
    }
    await tokenTo(one.email)
  })

  it('sends three e-mails an hour to an account, of which a client hears nothing, and refuses a flood from one place', async () => {
    const one = await person()
    for (let time = 0; time < 6; time++) expect((await forgot(one.email)).status).toBe(202)
    await tokenTo(one.email, 3)
    await gateway.idle()
    expect(mail.received.filter(({ to }) => to.includes(one.email))).toHaveLength(3)
    const here = elsewhere()
    const flood = await Promise.all(Array.from({ length: 30 }, (_, at) => forgot(`nobody-${at}@example.com`, here)))
    expect(flood.filter(({ status }) => status === 429)).toHaveLength(10)
    expect(flood.find(({ status }) => status === 429)?.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  it('lets its owner in where guesses from everywhere have used up the attempts', async () => {
    const one = await person()
    for (let time = 0; time < 51; time++) await login(one.email, 'a wrong password')
    const here = elsewhere()
    expect((await login(one.email, PASSWORD, here)).status).toBe(429)
    await forgot(one.email, here)
    const token = await tokenTo(one.email)
    expect((await page().ask('POST', RESET, { token, new_password: NEXT }, here)).status).toBe(200)
    expect((await login(one.email, NEXT, here)).status).toBe(200)
  })

  it('takes no token that is none, and never fails over it', async () => {
    for (const token of ['', 'x', 'A'.repeat(48), 'x'.repeat(65_536), newToken()])
      expect((await reset(token)).status, token.slice(0, 60)).toBe(400)
    for (const token of [null, 7, ['x'], {}, undefined]) expect((await reset(token)).status).toBe(400)
    for (const token of ['x', 'A'.repeat(48), newToken(), '%00', '%ff', '__proto__', "'%3b--", 'x'.repeat(3000)]) {
      const { status, body } = await look(token)
      if (status === 200) expect(body).toEqual(INVALID)
      else expect([400, 404], token.slice(0, 60)).toContain(status)
    }
    for (const email of [null, 7, [], {}, '', '\0@example.com', 'x'.repeat(65_536)])
      expect((await forgot(email)).status).toBe(400)
  })

  it('keeps its tokens as hashes, and nowhere tells one', async () => {
    const one = await person()
    await forgot(one.email)
    const token = await tokenTo(one.email)
    await reset(token)
    const events = await vi.waitFor(
      async () => {
        const rows = await rowsOf(
          gateway.sql,
          sql<{ action: string; status: number; actor_id: string | null; metadata: object; changes: object }>`
            SELECT action, status, actor_id, metadata, changes FROM gateway_audit_event
            WHERE resource_id = ${one.accountId} ORDER BY occurred_at`,
        )
        expect(rows).toHaveLength(2)
        return rows
      },
      { timeout: 10_000, interval: 50 },
    )
    expect(events).toEqual([
      { action: 'account.forgot_password', status: 202, actor_id: null, metadata: { result: 'sent' }, changes: {} },
      {
        action: 'account.reset_password',
        status: 200,
        actor_id: one.accountId,
        metadata: {},
        changes: { password: { old: '…', new: '…' } },
      },
    ])
    const [row] = await rowsOf(
      gateway.sql,
      sql<{ text: string }>`SELECT
        (SELECT string_agg(row_to_json(r)::text, '') FROM gateway_password_reset AS r)
        || (SELECT string_agg(row_to_json(e)::text, '') FROM gateway_email AS e)
        || (SELECT string_agg(row_to_json(a)::text, '') FROM gateway_audit_event AS a) AS text`,
    )
    expect(row?.text).not.toContain(token)
    expect(row?.text).not.toContain(NEXT)
  })
})

it('without e-mail the answer is the same', async () => {
  const gateway = await startFullGateway('model_list: []')
  try {
    const { email } = await signedIn(gateway)
    const asked = await browser(gateway.url).ask('POST', FORGOT, { email })
    expect([asked.status, asked.body]).toEqual([202, { accepted: true }])
    await gateway.idle()
    expect(await rowsOf(gateway.sql, sql`SELECT FROM gateway_password_reset`)).toEqual([])
  } finally {
    await gateway.close()
  }
})
