import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHasher } from '../../../src/lib/crypto.ts'
import { newToken } from '../../../src/lib/token.ts'
import { emailKey } from '../../../src/stores/sql/people/email-key.ts'
import { keptCheaply, PASSWORD } from '../../support/passwords.ts'
import { type Browser, browser } from '../../support/people.ts'
import { elsewhere } from '../../support/people-gateways.ts'
import { type Pair, pairExists, SALT_KEY, startPair } from './pair.ts'

const LOGIN = '/auth/internal/login'
const NEXT = 'another horse, another staple'

describe.skipIf(!pairExists())('passwords, over two processes', { timeout: 120_000 }, () => {
  let pair: Pair
  let pages: (() => Browser)[]
  let serial = 0

  beforeAll(async () => {
    pair = await startPair({ model_list: [], general_settings: { trusted_proxies: ['127.0.0.0/8', '::1'] } })
    const urls = await Promise.all(pair.gateways.map((gateway) => gateway.base()))
    pages = urls.map((url) => () => browser(url))
  })
  afterAll(() => pair?.close())

  async function person(): Promise<{ email: string; accountId: string }> {
    serial += 1
    const [email, accountId, userId] = [`p${serial}@example.com`, `account-${serial}`, `user-${serial}`]
    await pair.sql.query('INSERT INTO gateway_user (user_id, user_email) VALUES ($1, $2)', [userId, email])
    await pair.sql.query(
      `INSERT INTO gateway_account (account_id, user_id, email, email_key, platform_role, password_hash)
       VALUES ($1, $2, $3, $4, 'platform_admin', $5)`,
      [accountId, userId, email, emailKey(email), await keptCheaply()],
    )
    return { email, accountId }
  }
  const at = (index: number) => (pages[index % pages.length] as () => Browser)()
  const login = (index: number, email: string, password: string, headers = elsewhere()) =>
    at(index).ask('POST', LOGIN, { email, password }, headers)
  const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()

  it('ten attempts of an account at an address pass in a minute, of forty at once', async () => {
    const { email } = await person()
    const here = elsewhere()
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => login(index, email, 'wrong', here)))
    expect(statuses(answers)).toEqual([...Array(10).fill(401), ...Array(30).fill(429)])
    pair.expectShared()
  })

  it('fifty of an account from everywhere pass in an hour, and its owner does from home', async () => {
    const { email } = await person()
    const home = elsewhere()
    expect((await login(0, email, PASSWORD, home)).status).toBe(200)
    const answers = await Promise.all(Array.from({ length: 80 }, (_, index) => login(index, email, 'wrong')))
    expect(statuses(answers)).toEqual([...Array(49).fill(401), ...Array(31).fill(429)])
    expect((await login(1, email, PASSWORD)).status).toBe(429)
    expect((await login(1, email, PASSWORD, home)).status).toBe(200)
    pair.expectShared()
  })

  it('a changed password ends the sessions of the other process at once', async () => {
    const { email } = await person()
    const [one, other] = [at(0), at(1)]
    for (const page of [one, other])
      expect((await page.ask('POST', LOGIN, { email, password: PASSWORD }, elsewhere())).status).toBe(200)
    expect((await other.ask('GET', '/ui/api/keys')).status).toBe(200)
    const changed = await one.ask('POST', '/auth/internal/change-password', {
      current_password: PASSWORD,
      new_password: NEXT,
    })
    expect(changed.status).toBe(200)
    expect((await other.ask('GET', '/ui/api/keys')).status).toBe(401)
    expect((await one.ask('GET', '/ui/api/keys')).status).toBe(200)
    const moved = at(1)
    moved.token = one.token
    expect((await moved.ask('GET', '/ui/api/keys')).status).toBe(200)
    pair.expectShared()
  })

  it('a reset has one winner of fifty at once, and ends the sessions of both', async () => {
    const { email, accountId } = await person()
    const open = [at(0), at(1)]
    for (const page of open) await page.ask('POST', LOGIN, { email, password: PASSWORD }, elsewhere())
    const token = newToken()
    await pair.sql.query(
      `INSERT INTO gateway_password_reset (token_hash, account_id, expires_at) VALUES ($1, $2, now() + interval '1 hour')`,
      [keyHasher(SALT_KEY)(token), accountId],
    )
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        at(index).ask(
          'POST',
          '/auth/internal/reset-password',
          { token, new_password: `${NEXT} ${index}` },
          elsewhere(),
        ),
      ),
    )
    const won = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []))
    expect(won).toHaveLength(1)
    expect(answers.filter(({ status }) => ![200, 400, 503].includes(status))).toEqual([])
    for (const page of open) expect((await page.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    for (const index of [0, 1]) expect((await login(index, email, `${NEXT} ${won[0]}`)).status).toBe(200)
  })
})
