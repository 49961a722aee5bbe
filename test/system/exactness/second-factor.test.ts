import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHasher } from '../../../src/lib/crypto.ts'
import { alsoSignedIn, type Browser, browser, type SignedIn, type Signing, signedIn } from '../../support/people.ts'
import { enroll, stepNow, totp, wrongCode } from '../../support/second-factor.ts'
import { type Pair, pairExists, SALT_KEY, startPair } from './pair.ts'

const TIMES = 50

describe.skipIf(!pairExists())('in two processes at once', () => {
  let pair: Pair
  let signing: readonly [Signing, Signing]

  beforeAll(async () => {
    pair = await startPair({ model_list: [] })
    const sql: Signing['sql'] = {
      async batch(statements) {
        for (const one of statements) await pair.sql.query(one.sql, [...one.parameters])
        return []
      },
    }
    const [one, other] = await Promise.all(pair.gateways.map((gateway) => gateway.base()))
    signing = [
      { url: String(one), sql, saltKey: SALT_KEY },
      { url: String(other), sql, saltKey: SALT_KEY },
    ]
  })
  afterAll(async () => {
    for (const gateway of pair?.gateways ?? []) expect(gateway.logged('internal')).toEqual([])
    await pair?.close()
  })

  /** As many sessions of one person as tries, on one and the other process in turn. */
  async function sessions(of: SignedIn): Promise<SignedIn[]> {
    return Promise.all(Array.from({ length: TIMES }, (_, at) => alsoSignedIn(signing[at % 2] as Signing, of)))
  }

  async function statuses(pages: readonly SignedIn[], code: string): Promise<Record<number, number>> {
    const answers = await Promise.all(pages.map((page) => page.ask('POST', '/auth/mfa/verify', { code })))
    return Object.fromEntries(
      Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, all]) => [
        status,
        all?.length ?? 0,
      ]),
    )
  }

  /** Tries are counted by the minute: none of these is in two of them. */
  async function withinMinute(): Promise<void> {
    const left = 60_000 - (Date.now() % 60_000)
    if (left < 8000) await new Promise((resolve) => setTimeout(resolve, left + 50))
  }

  const codesOf = async (person: SignedIn): Promise<string[]> => {
    const { rows } = await pair.sql.query('SELECT code_hash FROM gateway_recovery_code WHERE account_id = $1', [
      person.accountId,
    ])
    return rows.map(({ code_hash }) => code_hash).sort()
  }
  const hashed = (person: SignedIn, codes: readonly string[]) =>
    codes.map((code) => keyHasher(SALT_KEY)(`recovery code of ${person.accountId}: ${code.replace('-', '')}`)).sort()

  it.each(['a code', 'a recovery code'])(
    '%s verifies one session, and ten tries a minute are looked at',
    async (kind) => {
      const person = await signedIn(signing[0])
      const { secret, recoveryCodes } = await enroll(person)
      const pages = await sessions(person)
      await withinMinute()
      const isRecovery = kind === 'a recovery code'
      const code = isRecovery ? String(recoveryCodes[0]) : totp(secret, stepNow() + 1)
      const { 200: won = 0, 401: wrong = 0, 429: refused = 0 } = await statuses(pages, code)
      expect(won).toBe(1)
      expect(won + wrong + refused).toBe(TIMES)
      // The enrollment was a try of this minute, or of the one before.
      expect([9, 10]).toContain(won + wrong)
      expect(await codesOf(person)).toEqual(hashed(person, isRecovery ? recoveryCodes.slice(1) : recoveryCodes))
      pair.expectShared()
    },
  )

  it('an enrollment is confirmed once, with ten recovery codes and one verified session', async () => {
    const person = await signedIn(signing[0])
    const { secret } = (await person.ask('POST', '/auth/mfa/enroll/start')).body
    const others = await sessions(person)
    await withinMinute()
    const answers = await Promise.all(
      others.map((other, at) =>
        (at % 3 ? other : person).ask('POST', '/auth/mfa/enroll/confirm', { code: totp(secret) }),
      ),
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    for (const { status } of answers) expect([200, 401, 403, 409, 429]).toContain(status)
    expect(await codesOf(person)).toEqual(hashed(person, won[0]?.body.recovery_codes))
    const { rows } = await pair.sql.query(
      'SELECT session_id FROM gateway_session WHERE account_id = $1 AND ended_at IS NULL AND mfa_verified',
      [person.accountId],
    )
    expect(rows).toHaveLength(1)
  })

  it('recovery codes that several make anew are those that the last of them was shown', async () => {
    const person = await signedIn(signing[0])
    const { secret, recoveryCodes } = await enroll(person)
    const pages = signing.map(({ url }) => browser(url, person.token))
    await withinMinute()
    const codes = [totp(secret, stepNow() + 1), ...recoveryCodes.slice(0, 7)]
    const answers = await Promise.all(
      codes.map((code, at) => (pages[at % 2] as Browser).ask('POST', '/auth/mfa/recovery-codes', { code })),
    )
    const renewed = answers.filter(({ status }) => status === 200)
    // Each but the first wins only by a code that the one before it did not take away: the authenticator's.
    expect([1, 2]).toContain(renewed.length)
    const shown = renewed.map(({ body }) => hashed(person, body.recovery_codes))
    expect(shown).toContainEqual(await codesOf(person))
  })

  it('a refusal says when it is over, and leaves what is verified alone', async () => {
    const person = await signedIn(signing[0])
    const { secret } = await enroll(person)
    const pages = await sessions(person)
    await withinMinute()
    const answers = await Promise.all(
      pages.map((page) => page.ask('POST', '/auth/mfa/verify', { code: wrongCode(secret) })),
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(TIMES - 10)
    for (const { headers, body } of refused) {
      expect(body.error).toMatchObject({ type: 'rate_limit_error', code: 'too_many_mfa_codes' })
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    }
    expect((await person.ask('GET', '/auth/sessions')).status).toBe(200)
  })
})
