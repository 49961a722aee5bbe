import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { newRecoveryCode, newSecret } from '../../../src/identity/second-factor/codes.ts'
import { secondFactor } from '../../../src/identity/second-factor/second-factor.ts'
import { keyHasher } from '../../../src/lib/crypto.ts'
import { sealUnder } from '../../../src/lib/sealing/seal.ts'
import { secret as kept } from '../../../src/lib/secret.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import { secondFactorRecords } from '../../../src/stores/sql/people/second-factor-records.ts'
import { batchOf } from '../../../src/stores/sql/query.ts'
import { FULL_GATEWAY_SALT_KEY } from '../../support/full-gateway.node.ts'
import { signedIn } from '../../support/people.ts'
import { stepNow, totp, wrongCode } from '../../support/second-factor.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const seal = sealUnder(kept(FULL_GATEWAY_SALT_KEY))
const hash = keyHasher(FULL_GATEWAY_SALT_KEY)
const none = { open: async () => undefined }

describe('a second factor', () => {
  const gateway = withFullGateway('model_list: []')

  /** As one process has it: nothing but the database is shared with others. */
  const process = () =>
    secondFactor({
      records: secondFactorRecords(gateway.sql),
      sessions: none,
      store: inProcessStore({ now: Date.now }),
      seal,
      hash,
      now: Date.now,
    })

  /** Somebody with a second factor that counts, or is about to. */
  async function enrolled({ confirmed = true } = {}) {
    const { accountId } = await signedIn(gateway)
    const [secret, code] = [newSecret(), newRecoveryCode()]
    const sealed = await seal.close(secret, `second factor of ${accountId}`)
    const digest = hash(`recovery code of ${accountId}: ${code.replace('-', '')}`)
    await batchOf(gateway.sql, [
      sql`UPDATE gateway_account SET totp_sealed = ${sealed},
        totp_confirmed_at = CASE WHEN ${confirmed} THEN now() END WHERE account_id = ${accountId}`,
      sql`INSERT INTO gateway_recovery_code (account_id, code_hash) VALUES (${accountId}, ${digest})`,
    ])
    return { accountId, secret, code }
  }

  /** One code 50 times at once, in processes of ten each: as many as the throttle lets one try in a minute. */
  async function manyTimes(accountId: string, code: string): Promise<boolean[]> {
    const processes = Array.from({ length: 5 }, process)
    return Promise.all(Array.from({ length: 50 }, (_, at) => processes[at % 5]?.prove(accountId, code) ?? false))
  }

  it('is proved by each code of the authenticator once, and never by an earlier one again', async () => {
    const { accountId, secret } = await enrolled()
    const step = stepNow()
    const one = process()
    expect(await one.prove(accountId, totp(secret, step))).toBe(true)
    expect(await one.prove(accountId, totp(secret, step))).toBe(false)
    expect(await process().prove(accountId, totp(secret, step - 1))).toBe(false)
    expect(await process().prove(accountId, totp(secret, step + 1))).toBe(true)
    expect(await one.prove(accountId, wrongCode(secret))).toBe(false)
  })

  it('is proved by each recovery code once', async () => {
    const { accountId, secret, code } = await enrolled()
    const one = process()
    expect(await one.prove(accountId, newRecoveryCode())).toBe(false)
    expect(await one.prove(accountId, code.toUpperCase().replace('-', ''))).toBe(true)
    expect(await process().prove(accountId, code)).toBe(false)
    // A recovery code stands for no time step.
    expect(await one.prove(accountId, totp(secret))).toBe(true)
  })

  it('has one winner among 50 that send one code at once', async () => {
    const { accountId, secret, code } = await enrolled()
    for (const sent of [totp(secret), code]) {
      expect((await manyTimes(accountId, sent)).filter(Boolean)).toHaveLength(1)
    }
  })

  it('is proved by no code of another account, of no account, or of an enrollment that was not confirmed', async () => {
    const [one, other, pending] = [await enrolled(), await enrolled(), await enrolled({ confirmed: false })]
    const own = process()
    for (const [accountId, code] of [
      [one.accountId, totp(other.secret)],
      [one.accountId, other.code],
      ['nobody', totp(one.secret)],
      ['nobody', one.code],
      [pending.accountId, totp(pending.secret)],
      [pending.accountId, pending.code],
    ] as const) {
      expect(await own.prove(accountId, code)).toBe(false)
    }
    expect(await own.prove(one.accountId, totp(one.secret))).toBe(true)
  })

  it('is proved by nothing that is no code, and says so without asking', async () => {
    const { accountId } = await enrolled()
    const own = process()
    const strange = ['', '１２３４５６', '12345\0', '1'.repeat(65_536), '\ud800', "'; DROP TABLE gateway_account; --"]
    for (const code of [...strange, ...Array.from({ length: 50 }, () => 'no code')]) {
      expect(await own.prove(accountId, code)).toBe(false)
    }
  })

  it('lets ten codes a minute be tried for an account, good or not', async () => {
    const { accountId, secret } = await enrolled()
    const store = inProcessStore({ now: () => 1_800_000_000_000 })
    const own = secondFactor({
      records: secondFactorRecords(gateway.sql),
      sessions: none,
      store,
      seal,
      hash,
      now: Date.now,
    })
    const wrong = wrongCode(secret)
    for (let time = 0; time < 10; time++) expect(await own.prove(accountId, wrong)).toBe(false)
    await expect(own.prove(accountId, totp(secret))).rejects.toMatchObject({
      failure: 'rate_limited',
      details: { code: 'too_many_mfa_codes', retryAfterSeconds: 60 },
    })
    const { accountId: another, secret: theirs } = await enrolled()
    expect(await own.prove(another, totp(theirs))).toBe(true)
  })

  it('lets thirty be tried in an hour, and in the next one again', async () => {
    const { accountId, secret, code } = await enrolled()
    const hour = 1_800_000_000_000
    let at = hour
    const own = secondFactor({
      records: secondFactorRecords(gateway.sql),
      sessions: none,
      store: inProcessStore({ now: () => at }),
      seal,
      hash,
      now: Date.now,
    })
    for (let time = 0; time < 30; time++) {
      at = hour + 60_000 * Math.floor(time / 10)
      expect(await own.prove(accountId, wrongCode(secret))).toBe(false)
    }
    at = hour + 600_000
    const refused = { failure: 'rate_limited', details: { code: 'too_many_mfa_codes', retryAfterSeconds: 3000 } }
    await expect(own.prove(accountId, totp(secret))).rejects.toMatchObject(refused)
    await expect(own.prove(accountId, code)).rejects.toMatchObject(refused)
    at = hour + 3_600_000
    expect(await own.prove(accountId, totp(secret))).toBe(true)
  })
})
