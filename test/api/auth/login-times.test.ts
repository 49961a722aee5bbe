import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { passwords } from '../../../src/identity/passwords/passwords.ts'
import { scrypt } from '../../../src/lib/crypto.ts'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { PASSWORD } from '../../support/passwords.ts'
import { browser, signedIn } from '../../support/people.ts'
import { BEHIND_PROXY, elsewhere } from '../../support/people-gateways.ts'

const SAMPLES = 40
/** Each of them hashes. */
const LOGIN_SAMPLES = 20
/** An account takes fewer than fifty attempts an hour. */
const ACCOUNTS = 2
const KINDS = ['wrong password', 'unknown account', 'no password', 'disabled'] as const
type Kind = (typeof KINDS)[number]

describe('the time of an answer', { timeout: 400_000 }, () => {
  let gateway: FullGateway
  const people: Record<Kind, string[]> = {
    'wrong password': [],
    'unknown account': [],
    'no password': [],
    disabled: [],
  }

  beforeAll(async () => {
    gateway = await startFullGateway(
      `general_settings: { ${BEHIND_PROXY}, email_provider: log, email_base_url: 'https://gateway.example' }`,
      { costlyPasswords: true },
    )
    const passwordHash = await passwords({ atOnce: 1, derive: scrypt }).hash(PASSWORD, 'x@example.com')
    for (let account = 0; account < ACCOUNTS; account++) {
      people['wrong password'].push((await signedIn(gateway, { passwordHash })).email)
      people['unknown account'].push(`account-of-nobody-${account}-7f3a@example.com`)
      people['no password'].push((await signedIn(gateway)).email)
      const disabled = await signedIn(gateway, { passwordHash })
      await rowsOf(
        gateway.sql,
        sql`UPDATE gateway_account SET state = 'disabled' WHERE account_id = ${disabled.accountId}`,
      )
      people.disabled.push(disabled.email)
    }
  })
  afterAll(() => gateway?.close())

  /** Of each kind in turn, so that all meet the same moments of a busy machine. */
  async function sampled(kinds: readonly Kind[], count: number, ask: (email: string) => Promise<void>) {
    const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]))
    for (let sample = -2; sample < count; sample++) {
      for (const kind of kinds) {
        // What an answer has left to be done is no part of the next one.
        await gateway.idle()
        const began = performance.now()
        await ask(people[kind][(sample + 2) % people[kind].length] as string)
        if (sample >= 0) times.get(kind)?.push(performance.now() - began)
      }
    }
    return [...times].map(([kind, all]) => ({ kind, quartiles: quartiles(all) }))
  }

  /** No quartile of a kind is further from the others' than `share`, or than the machine's own unrest: half the distance
   *  between the quartiles of one kind. */
  function expectAlike(all: readonly { kind: Kind; quartiles: readonly number[] }[], share: number): void {
    for (const one of all) {
      for (const other of all) {
        const unrest = ((other.quartiles[2] as number) - (other.quartiles[0] as number)) / 2
        for (const [index, quartile] of one.quartiles.entries()) {
          const apart = Math.abs(quartile - (other.quartiles[index] as number))
          const allowed = Math.max(share * (other.quartiles[index] as number), unrest)
          expect(apart, `${JSON.stringify(all)}`).toBeLessThanOrEqual(allowed)
        }
      }
    }
  }

  it('tells no kind of wrong sign-in from another', async () => {
    const all = await sampled(KINDS, LOGIN_SAMPLES, async (email) => {
      const credentials = { email, password: 'a wrong password' }
      const { status } = await browser(gateway.url).ask('POST', '/auth/internal/login', credentials, elsewhere())
      expect(status).toBe(401)
    })
    expectAlike(all, 0.15)
    // All of them hash: without that, an answer takes a tenth of it.
    for (const {
      quartiles: [first],
    } of all)
      expect(first).toBeGreaterThan(20)
  })

  it('tells no account from none where a password was forgotten', async () => {
    // Three e-mails an hour go to an account: so many samples of each are sent one.
    const own = await Promise.all(Array.from({ length: 15 }, async () => (await signedIn(gateway)).email))
    people['no password'] = own
    people['unknown account'] = own.map((email) => `nobody-${email}`)
    const all = await sampled(['no password', 'unknown account'], SAMPLES, async (email) => {
      const { status } = await browser(gateway.url).ask(
        'POST',
        '/auth/internal/forgot-password',
        { email },
        elsewhere(),
      )
      expect(status).toBe(202)
    })
    expectAlike(all, 0.35)
    await gateway.idle()
    const [row] = await rowsOf(gateway.sql, sql<{ sent: number }>`SELECT count(*)::int AS sent FROM gateway_email`)
    expect(row?.sent).toBeGreaterThanOrEqual(SAMPLES)
  })
})

function quartiles(times: readonly number[]): readonly number[] {
  const sorted = times.toSorted((one, other) => one - other)
  return [0.25, 0.5, 0.75].map((share) => Math.round(10 * (sorted[Math.floor(share * sorted.length)] ?? 0)) / 10)
}
