import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/ids.ts'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { signedIn } from '../../support/people.ts'
import { CLIENT, type Lies, type ScriptedProvider, scriptedProvider } from '../../support/scripted-provider.node.ts'
import { signOnBrowser } from '../../support/sign-on.ts'

const hang = () => {}

describe('single sign-on', () => {
  let provider: ScriptedProvider
  let gateway: FullGateway

  beforeAll(async () => {
    provider = await scriptedProvider()
    gateway = await startFullGateway(`general_settings:
  enable_sso: true
  sso_provider: oidc
  sso_issuer: ${provider.url}
  sso_client_id: ${CLIENT.id}
  sso_client_secret: ${CLIENT.secret}
  sso_redirect_uri: http://127.0.0.1:1/auth/callback
  sso_admin_email_list: [Boss@Example.com, chief@example.com]
`)
  })
  afterAll(async () => {
    await gateway?.close()
    await provider?.close()
  })
  beforeEach(() => {
    provider.person = {
      sub: newId('subject'),
      email: `${newId('p')}@example.com`,
      email_verified: true,
      name: 'Ada',
    }
  })
  afterEach(() => {
    provider.lies = {}
  })

  const person = () => provider.person as { sub: string; email: string }
  const rows = <Row = Record<string, unknown>>(query: ReturnType<typeof sql>) =>
    rowsOf(gateway.sql, query) as Promise<Row[]>
  const accounts = (email: string) => rows(sql`SELECT * FROM gateway_account WHERE email_key = lower(${email})`)
  const identities = (subject: string) => rows(sql`SELECT * FROM gateway_account_identity WHERE subject = ${subject}`)
  const invite = (email: string, more = '') =>
    rows(sql`INSERT INTO gateway_invitation (invitation_id, token_hash, email, email_key, state, expires_at)
      VALUES (${newId('i')}, ${newId('t')}, ${email}, lower(${email}), ${more === 'cancelled' ? more : 'pending'},
        now() + ${more === 'expired' ? '-1 hour' : '1 hour'}::interval)`)
  const problemOf = (response: Response) => {
    expect(response.status).toBe(302)
    expect(response.headers.getSetCookie().filter((cookie) => cookie.startsWith('gateway_session'))).toEqual([])
    return /^\/console\/sign-in\?problem=(\w+)$/.exec(response.headers.get('location') ?? '')?.[1]
  }
  async function eventsOf(response: Response, action: string): Promise<Record<string, unknown>[]> {
    const requestId = response.headers.get('x-request-id')
    const deadline = Date.now() + 15_000
    for (;;) {
      const found = await rows(
        sql`SELECT * FROM gateway_audit_event WHERE request_id = ${requestId} AND action = ${action}`,
      )
      if (found.length > 0 || Date.now() > deadline) return found
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  it('asks for a code under PKCE, a nonce and a state that is bound to the browser', async () => {
    const response = await signOnBrowser(gateway.url).open('/auth/login?next=/console/keys')
    expect(response.status).toBe(302)
    const location = new URL(response.headers.get('location') ?? '')
    expect(location.origin + location.pathname).toBe(`${provider.url}/authorize`)
    expect(Object.fromEntries(location.searchParams)).toEqual({
      client_id: CLIENT.id,
      redirect_uri: 'http://127.0.0.1:1/auth/callback',
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{48}$/),
    })
    const [cookie] = response.headers.getSetCookie()
    expect(cookie).toMatch(/^gateway_sign_on=[\w-]{48}; Path=\/auth; Max-Age=600; HttpOnly; SameSite=Lax$/)
    const behindTls = await fetch(`${gateway.url}/auth/login`, {
      redirect: 'manual',
      headers: { 'x-forwarded-proto': 'https' },
    })
    expect(behindTls.headers.getSetCookie()[0]).toMatch(/; Secure$/)
  })

  it('opens a session for who was invited, and knows them by their subject from then on', async () => {
    const { email, sub } = person()
    await invite(email.toUpperCase())
    const browser = signOnBrowser(gateway.url)
    const arrived = await browser.signOn('/console/keys?page=2')
    expect([arrived.status, arrived.headers.get('location')]).toEqual([302, '/console/keys?page=2'])
    expect(await browser.me()).toMatchObject({ email, role: 'org_user', method: 'sso', has_password: false })
    const [account] = await accounts(email)
    expect(await identities(sub)).toMatchObject([{ account_id: account?.account_id, provider: provider.url, email }])
    const [user] = await rows(sql`SELECT * FROM gateway_user WHERE user_id = ${account?.user_id}`)
    expect(user).toMatchObject({ user_email: email, user_name: 'Ada', max_budget: null })
    expect(await eventsOf(arrived, 'account.provision')).toMatchObject([
      { actor_id: account?.account_id, metadata: { made_account: true, platform_role: 'org_user' } },
    ])
    await browser.signOn()
    const open = sql`SELECT FROM gateway_session WHERE account_id = ${account?.account_id} AND ended_at IS NULL`
    expect(await rows(open), 'the session that the browser had has ended').toHaveLength(1)
    // Another address and no invitation: it is the same person.
    const renamed = `${newId('p')}@elsewhere.example`
    provider.person = { sub, email: renamed, email_verified: false }
    const again = signOnBrowser(gateway.url)
    const later = await again.signOn()
    expect(later.headers.get('location')).toBe('/console')
    expect(await again.me()).toMatchObject({ email, account_id: account?.account_id })
    expect(await identities(sub)).toMatchObject([{ email: renamed }])
    expect((await accounts(email))[0]?.last_login_at).not.toBeNull()
    const [event] = await eventsOf(later, 'account.sso_login')
    expect(event).toMatchObject({ actor_type: 'account', actor_id: account?.account_id, status: 302 })
    expect(event?.metadata).toEqual({ provider: provider.url, email: renamed })
  })

  it('links an account by a verified address, once, and by no other', async () => {
    const owner = await signedIn(gateway, { email: person().email, passwordHash: 'x' })
    const { email, sub } = person()
    for (const verified of [false, undefined, 'yes', 0, null]) {
      provider.person = { sub: newId('thief'), email, email_verified: verified }
      expect(problemOf(await signOnBrowser(gateway.url).signOn()), String(verified)).toBe('unverified_email')
    }
    expect(await rows(sql`SELECT FROM gateway_account_identity WHERE account_id = ${owner.accountId}`)).toEqual([])
    provider.person = { sub, email: email.toUpperCase(), email_verified: 'true' }
    const browser = signOnBrowser(gateway.url)
    const linked = await browser.signOn()
    expect(linked.headers.get('location')).toBe('/console')
    expect(await browser.me()).toMatchObject({ account_id: owner.accountId, has_password: true })
    expect((await eventsOf(linked, 'account.sso_link')).length).toBe(1)
    // An address that was given to somebody else opens nobody's account.
    provider.person = { sub: newId('successor'), email, email_verified: true }
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('address_taken')
    expect((await accounts(email)).length).toBe(1)
  })

  it('links no account whose own address was never proved, until an administrator vouches for it', async () => {
    const { email } = person()
    const squatter = await signedIn(gateway, { email, passwordHash: 'x' })
    await rows(sql`UPDATE gateway_account SET email_proved = false WHERE account_id = ${squatter.accountId}`)
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('unproved_email')
    const vouched = await gateway.fetch(`/ui/api/accounts/${squatter.accountId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email_proved: true }),
    })
    expect(await vouched.json()).toMatchObject({ email, email_proved: true })
    const browser = signOnBrowser(gateway.url)
    await browser.signOn()
    expect(await browser.me()).toMatchObject({ account_id: squatter.accountId })
  })

  it('lets nobody in who was not invited', async () => {
    const { email, sub } = person()
    const uninvited = await signOnBrowser(gateway.url).signOn()
    expect(problemOf(uninvited)).toBe('not_invited')
    await invite(email, 'cancelled')
    await invite(email, 'expired')
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('not_invited')
    await invite(email)
    provider.person = { sub, email, email_verified: false }
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('unverified_email')
    provider.person = { sub }
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('unverified_email')
    expect([await accounts(email), await identities(sub)]).toEqual([[], []])
    expect(await eventsOf(uninvited, 'account.sso_login')).toMatchObject([
      {
        actor_type: 'anonymous',
        metadata: { provider: provider.url, email, problem: 'not_invited', reason: 'nobody invited the address' },
      },
    ])
  })

  it('makes administrators of listed addresses at their first login, and never again', async () => {
    const sub = newId('boss')
    provider.person = { sub, email: 'BOSS@example.COM', email_verified: false }
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('unverified_email')
    provider.person = { sub, email: 'BOSS@example.COM', email_verified: true }
    const browser = signOnBrowser(gateway.url)
    await browser.signOn()
    expect(await browser.me()).toMatchObject({ role: 'platform_admin', email: 'BOSS@example.COM' })
    await rows(sql`UPDATE gateway_account SET platform_role = 'org_user' WHERE email_key = 'boss@example.com'`)
    const later = signOnBrowser(gateway.url)
    await later.signOn()
    expect(await later.me()).toMatchObject({ role: 'org_user' })
    // Nor by another identity of the same account.
    await rows(sql`UPDATE gateway_account_identity SET provider = 'https://former.example' WHERE subject = ${sub}`)
    const moved = signOnBrowser(gateway.url)
    expect((await moved.signOn()).headers.get('location')).toBe('/console')
    expect(await moved.me()).toMatchObject({ role: 'org_user' })
    expect((await identities(sub)).length).toBe(2)
  })

  it('makes no administrator of a session that was there before', async () => {
    const [chief, other] = [await signedIn(gateway, { email: 'chief@example.com' }), await signedIn(gateway)]
    for (const { email } of [chief, other]) {
      provider.person = { sub: newId('subject'), email, email_verified: true }
      const browser = signOnBrowser(gateway.url)
      await browser.signOn()
      expect(await browser.me()).toMatchObject({ email, role: email === chief.email ? 'platform_admin' : 'org_user' })
    }
    expect((await chief.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    expect((await other.ask('GET', '/auth/me')).body).toMatchObject({ authenticated: true })
  })

  it('refuses disabled accounts, and asks for the second factor of those that have one', async () => {
    const { email, sub } = person()
    const owner = await signedIn(gateway, { email })
    await rows(sql`UPDATE gateway_account SET totp_confirmed_at = now() WHERE account_id = ${owner.accountId}`)
    const browser = signOnBrowser(gateway.url)
    await browser.signOn()
    expect(await browser.me()).toMatchObject({ standing: 'unverified', mfa_verified: false, pages: [] })
    expect((await browser.open('/ui/api/keys')).status).toBe(403)
    await rows(sql`UPDATE gateway_account SET state = 'disabled' WHERE account_id = ${owner.accountId}`)
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('account_disabled')
    await rows(sql`DELETE FROM gateway_account_identity WHERE subject = ${sub}`)
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('account_disabled')
    expect(await identities(sub)).toEqual([])
  })

  it('goes on to its own pages alone', async () => {
    await invite(person().email)
    const elsewhere = ['https://evil.example', '//evil.example', '/\\evil.example', '/\t/evil.example', 'console', '']
    for (const next of elsewhere) {
      expect((await signOnBrowser(gateway.url).signOn(next)).headers.get('location'), next).toBe('/console')
    }
    expect((await signOnBrowser(gateway.url).signOn('/ü?q=a b#c')).headers.get('location')).toBe('/%C3%BC?q=a%20b#c')
  })

  it('takes a state once, and only from the browser that it was given to', async () => {
    const { email } = person()
    await invite(email)
    const [one, other] = [signOnBrowser(gateway.url), signOnBrowser(gateway.url)]
    const { callback } = await one.toProvider()
    expect(problemOf(await signOnBrowser(gateway.url).open(callback))).toBe('state_expired')
    expect((await one.open(callback)).headers.get('location')).toBe('/console')
    expect(problemOf(await one.open(callback))).toBe('state_expired')
    const stolen = await one.toProvider()
    await other.toProvider()
    expect(problemOf(await other.open(stolen.callback))).toBe('state_expired')
    expect(problemOf(await one.open(stolen.callback))).toBe('state_expired')
    for (const query of ['', '?code=x', '?state=', `?state=${'A'.repeat(48)}&code=x`, `?state=${'ü'.repeat(3000)}`]) {
      expect(problemOf(await one.open(`/auth/callback${query}`)), query).toBe('state_expired')
    }
    expect((await one.open('/auth/callback?state=a&state=b')).status).toBe(400)
    // Two tabs.
    const [first, second] = [await one.toProvider('/console/a'), await one.toProvider('/console/b')]
    expect((await one.open(first.callback)).headers.get('location')).toBe('/console/a')
    expect((await one.open(second.callback)).headers.get('location')).toBe('/console/b')
  })

  it('believes no code twice', async () => {
    await invite(person().email)
    const browser = signOnBrowser(gateway.url)
    const { callback } = await browser.toProvider()
    await browser.open(callback)
    const replayed = new URLSearchParams(callback.split('?')[1]).get('code') ?? ''
    provider.lies = { back: { code: replayed } }
    expect(problemOf(await browser.signOn())).toBe('provider_refused')
  })

  it.each<[string, Lies, string, string?]>([
    ['another nonce', { claims: (claims) => ({ ...claims, nonce: 'x' }) }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED nonce'],
    ['no nonce', { claims: ({ nonce: _, ...claims }) => claims }, 'OAUTH_INVALID_RESPONSE'],
    ['another audience', { claims: (claims) => ({ ...claims, aud: 'x' }) }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED aud'],
    [
      'another party',
      { claims: (claims) => ({ ...claims, aud: [CLIENT.id, 'x'], azp: 'x' }) },
      'OAUTH_JWT_CLAIM_COMPARISON_FAILED azp',
    ],
    [
      'another issuer',
      { claims: (claims) => ({ ...claims, iss: 'https://x.example' }) },
      'OAUTH_JWT_CLAIM_COMPARISON_FAILED iss',
    ],
    [
      'an end long past',
      { claims: (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - 40 }) },
      'OAUTH_JWT_TIMESTAMP_CHECK_FAILED exp',
    ],
    ['a foreign key', { foreignKey: true }, 'OAUTH_INVALID_RESPONSE'],
    ['no signature', { unsigned: true }, 'OAUTH_UNSUPPORTED_OPERATION'],
    ['no token', { noIdToken: true }, 'OAUTH_INVALID_RESPONSE'],
    [
      'a profile of somebody else',
      {
        claims: ({ email: _, ...claims }) => claims,
        userinfo: (claims) => ({ ...claims, sub: 'somebody-else' }),
      },
      'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED sub',
    ],
    ['a refusal', { back: { code: '', error: 'access_denied' } }, 'OAUTH_AUTHORIZATION_RESPONSE_ERROR access_denied'],
    ['the word of another issuer', { back: { iss: 'https://x.example' } }, 'OAUTH_INVALID_RESPONSE'],
    [
      'a redirect',
      {
        answers: {
          '/token': (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/x' }).end(),
        },
      },
      'OAUTH_RESPONSE_IS_NOT_CONFORM',
    ],
    [
      'fifty megabytes',
      {
        answers: {
          '/token': (_, response) => {
            response.writeHead(200, { 'content-type': 'application/json' })
            response.end(Buffer.alloc(50_000_000, ' '))
          },
        },
      },
      'its answer could not be read',
    ],
    [
      'a failure of its own',
      { answers: { '/token': (_, response) => response.writeHead(502).end() } },
      'it answered 502',
      'provider_unreachable',
    ],
    [
      'a broken connection',
      { answers: { '/token': (request) => request.socket.destroy() } },
      'it could not be reached',
      'provider_unreachable',
    ],
    ['silence', { answers: { '/token': hang } }, 'it did not answer in time', 'provider_unreachable'],
  ])('takes no login with %s', async (_name, lies, reason, problem = 'provider_refused') => {
    const { email, sub } = person()
    await invite(email)
    const browser = signOnBrowser(gateway.url)
    provider.lies = lies
    const refused = await browser.signOn()
    expect(problemOf(refused)).toBe(problem)
    expect(await eventsOf(refused, 'account.sso_login')).toMatchObject([{ metadata: { problem, reason } }])
    expect([await accounts(email), await identities(sub)]).toEqual([[], []])
    provider.lies = {}
    expect((await browser.signOn()).headers.get('location')).toBe('/console')
  })

  it('takes a token whose clock is half a minute off', async () => {
    await invite(person().email)
    const now = Math.floor(Date.now() / 1000)
    provider.lies = { claims: (claims) => ({ ...claims, exp: now - 20, iat: now + 20 }) }
    expect((await signOnBrowser(gateway.url).signOn()).headers.get('location')).toBe('/console')
  })

  it('reads the profile where the token has no address', async () => {
    const { email } = person()
    await invite(email)
    provider.lies = { claims: ({ email: _, email_verified: __, ...claims }) => claims }
    const browser = signOnBrowser(gateway.url)
    await browser.signOn()
    expect(await browser.me()).toMatchObject({ email })
    // An address that the profile has, and a token that vouches for another.
    await signedIn(gateway, { email: 'victim@example.com' })
    provider.person = { sub: newId('s'), email: 'mine@example.com', email_verified: true }
    provider.lies = {
      claims: ({ email: _, ...claims }) => claims,
      userinfo: ({ ...claims }) => ({ ...claims, email: 'victim@example.com', email_verified: false }),
    }
    expect(problemOf(await signOnBrowser(gateway.url).signOn())).toBe('unverified_email')
  })

  it('is checked by an administrator: what the provider tells of itself, or why it could not be asked', async () => {
    const check = async () => (await gateway.fetch('/ui/api/sso/check', { method: 'POST' })).json()
    const known = { configured: true, label: 'single sign-on', redirect_uri: 'http://127.0.0.1:1/auth/callback' }
    expect(await check()).toEqual({
      ...known,
      provider: {
        issuer: provider.url,
        authorization_endpoint: `${provider.url}/authorize`,
        token_endpoint: `${provider.url}/token`,
        userinfo_endpoint: `${provider.url}/userinfo`,
        keys: 1,
      },
      problem: null,
    })
    provider.lies = { answers: { '/jwks': (_, response) => response.end('{}') } }
    const reason = 'its keys are none that could be read'
    expect(await check()).toEqual({ ...known, provider: null, problem: { code: 'provider_refused', reason } })
    provider.lies = {
      answers: { '/.well-known/openid-configuration': (_, response) => response.writeHead(503).end() },
    }
    expect(await check()).toMatchObject({ provider: null, problem: { code: 'provider_unreachable' } })
  })

  it('makes one account of fifty first logins at once', async () => {
    const { email, sub } = person()
    await invite(email)
    const browsers = Array.from({ length: 50 }, () => signOnBrowser(gateway.url))
    const arrived = await Promise.all(browsers.map((browser) => browser.signOn()))
    expect(new Set(arrived.map((response) => response.headers.get('location')))).toEqual(new Set(['/console']))
    const [account, ...others] = await accounts(email)
    expect(others).toEqual([])
    expect((await identities(sub)).length).toBe(1)
    expect((await rows(sql`SELECT FROM gateway_user WHERE user_email = ${email}`)).length).toBe(1)
    const open = await rows(sql`SELECT FROM gateway_session WHERE account_id = ${account?.account_id}`)
    expect(open.length).toBe(50)
  })
})
