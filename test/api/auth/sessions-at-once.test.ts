import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { keyHasher } from '../../../src/lib/crypto.ts'
import { newToken } from '../../../src/lib/token.ts'
import { adminApi } from '../../support/admin-api.ts'
import { FULL_GATEWAY_SALT_KEY, type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { lockWaits } from '../../support/lock-waits.ts'
import { keptCheaply, PASSWORD } from '../../support/passwords.ts'
import { browser, type SignedIn, signedIn } from '../../support/people.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('a session that is opened while its account changes', () => {
  let gateway: FullGateway
  let other: pg.Client
  const ask = adminApi(() => gateway)

  beforeAll(async () => {
    const database = await preparedDatabase(postgresUrl)
    gateway = await startFullGateway(`general_settings: { database_url: '${database}' }`)
    other = new pg.Client({ connectionString: database })
    await other.connect()
  })
  afterAll(async () => {
    await other?.end()
    await gateway?.close()
  })

  const person = async () => signedIn(gateway, { passwordHash: await keptCheaply() })
  const waiting = () => lockWaits(gateway.sql)

  /** Runs a change while a sign-in has gone through and is not yet stored. */
  async function whileOpened<Changed>({ accountId }: SignedIn, change: () => Promise<Changed>) {
    const token = newToken()
    await other.query('BEGIN')
    await other.query('UPDATE gateway_account SET last_login_at = now() WHERE account_id = $1', [accountId])
    await other.query(
      `INSERT INTO gateway_session (session_id, token_hash, account_id, method, mfa_verified, expires_at)
       VALUES ($1, $2, $3, 'password', false, now() + interval '7 days')`,
      [`session_${token}`, keyHasher(FULL_GATEWAY_SALT_KEY)(token), accountId],
    )
    const changing = change()
    await expect.poll(waiting).toHaveLength(1)
    await other.query('COMMIT')
    const changed = await changing
    const { body } = await browser(gateway.url, token).ask('GET', '/auth/me')
    return { changed, isSignedIn: body.authenticated }
  }

  it('is not opened by a password that is the former one by then', async () => {
    const ann = await person()
    await other.query('BEGIN')
    await other.query('UPDATE gateway_account SET password_hash = $1 WHERE account_id = $2', [
      await keptCheaply('another horse, another staple'),
      ann.accountId,
    ])
    const login = { email: ann.email, password: PASSWORD }
    const signing = browser(gateway.url).ask('POST', '/auth/internal/login', login)
    await expect.poll(waiting).toHaveLength(1)
    await other.query('COMMIT')
    const { status, body } = await signing
    expect([status, body.error?.code]).toEqual([401, 'invalid_credentials'])
    expect((await browser(gateway.url).ask('POST', '/auth/internal/login', login)).status).toBe(401)
  })

  it('ends with all others where the password is reset', async () => {
    const ann = await person()
    const { link } = (await ask('POST', `/accounts/${ann.accountId}/reset-password`)).body
    const reset = { token: link.slice(link.indexOf('#') + 1), new_password: 'another horse, another staple' }
    const { changed, isSignedIn } = await whileOpened(ann, () =>
      browser(gateway.url).ask('POST', '/auth/internal/reset-password', reset),
    )
    expect([changed.status, isSignedIn]).toEqual([200, false])
  })

  it('ends with all others where the account gets another role', async () => {
    const ann = await person()
    const { changed, isSignedIn } = await whileOpened(ann, () =>
      ask('PATCH', `/accounts/${ann.accountId}`, { platform_role: 'platform_admin' }),
    )
    expect([changed.status, isSignedIn]).toEqual([200, false])
  })
})
