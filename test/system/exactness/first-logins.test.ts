import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/ids.ts'
import { CLIENT, type ScriptedProvider, scriptedProvider } from '../../support/scripted-provider.node.ts'
import { type SignOnBrowser, signOnBrowser } from '../../support/sign-on.ts'
import { type Pair, pairExists, SECRETS, startPair } from './pair.ts'

const REGISTRATION = {
  enabled: true,
  allowed_domains: ['Example.com', 'bücher.example'],
  default_org: { id: 'sandbox', max_budget: 50, rpm_limit: 100 },
  default_team: {
    id: 'visitors',
    role: 'team_developer',
    self_service_keys_enabled: true,
    self_service_max_keys_per_user: 2,
    self_service_budget_ceiling: 5,
    self_service_require_expiry: true,
    self_service_max_expiry_days: 7,
  },
  default_user: { max_budget: 10, rpm_limit: 20 },
}

describe.skipIf(!pairExists())('first logins, at two processes', () => {
  let provider: ScriptedProvider
  let pair: Pair
  let urls: [string, string]
  const answers: string[] = []

  beforeAll(async () => {
    provider = await scriptedProvider()
    pair = await startPair({
      general_settings: {
        log_level: 'debug',
        enable_sso: true,
        sso_provider: 'oidc',
        sso_issuer: provider.url,
        sso_client_id: CLIENT.id,
        sso_client_secret: CLIENT.secret,
        sso_redirect_uri: 'http://127.0.0.1:1/auth/callback',
        self_registration: REGISTRATION,
      },
      model_list: [],
    })
    urls = [await pair.gateways[0].base(), await pair.gateways[1].base()]
  })
  afterAll(async () => {
    await pair?.close()
    await provider?.close()
  })
  beforeEach(() => {
    provider.lies = {}
    provider.person = { sub: newId('sub'), email: `${newId('p')}@example.com`, email_verified: true, name: 'Ada' }
  })

  const rows = async (text: string, values: unknown[] = []) => (await pair.sql.query(text, values)).rows
  const email = () => String(provider.person.email)
  /** Begins at one process and comes back to the other. */
  const across = (at: number) => signOnBrowser(urls[at % 2] as string, urls[(at + 1) % 2] as string)
  async function arrive(browser: SignOnBrowser): Promise<Response> {
    const response = await browser.signOn()
    answers.push(`${JSON.stringify([...response.headers])} ${await response.clone().text()}`)
    return response
  }

  it('fifty of one person make one account, with everything that a newcomer gets, and a session for each', async () => {
    expect(await rows('SELECT FROM gateway_organization')).toEqual([])
    const browsers = Array.from({ length: 50 }, (_, at) => across(at))
    const arrived = await Promise.all(browsers.map(arrive))
    expect(arrived.map((response) => response.headers.get('location'))).toEqual(Array(50).fill('/console'))
    const accounts = await rows('SELECT * FROM gateway_account WHERE email = $1', [email()])
    expect(accounts).toMatchObject([{ platform_role: 'org_user', state: 'active', password_hash: null }])
    const [{ account_id, user_id }] = accounts
    expect(await rows('SELECT * FROM gateway_account_identity')).toMatchObject([{ account_id, provider: provider.url }])
    expect(await rows('SELECT * FROM gateway_user')).toMatchObject([
      { user_id, max_budget: '10', rpm_limit: '20', user_email: email() },
    ])
    expect(await rows('SELECT organization_id, max_budget, rpm_limit FROM gateway_organization')).toEqual([
      { organization_id: 'sandbox', max_budget: '50', rpm_limit: '100' },
    ])
    const { id, role, ...service } = REGISTRATION.default_team
    expect(await rows('SELECT * FROM gateway_team')).toMatchObject([
      { team_id: id, organization_id: 'sandbox', ...service, self_service_budget_ceiling: '5' },
    ])
    expect(await rows('SELECT scope_type, scope_id, role FROM gateway_membership ORDER BY 1')).toEqual([
      { scope_type: 'organization', scope_id: 'sandbox', role: 'org_member' },
      { scope_type: 'team', scope_id: id, role },
    ])
    expect((await rows('SELECT FROM gateway_session WHERE account_id = $1', [account_id])).length).toBe(50)
    const mine = await Promise.all(browsers.map((browser) => browser.me()))
    expect(new Set(mine.map((me) => me.account_id))).toEqual(new Set([account_id]))
    expect(mine[0]).toMatchObject({ teams: [{ id, role, organization_id: 'sandbox' }] })
    pair.expectShared()
  })

  it('of many people at once make what they share once', async () => {
    const waiting: (() => Promise<Response>)[] = []
    const people = Array.from({ length: 20 }, () => newId('crowd'))
    for (const name of people) {
      provider.person = { sub: name, email: `${name}@example.com`, email_verified: true }
      const browser = across(0)
      const { callback } = await browser.toProvider()
      answers.push(callback)
      waiting.push(() => browser.open(callback))
    }
    const arrived = await Promise.all(waiting.map((come) => come()))
    expect(arrived.map((response) => response.headers.get('location'))).toEqual(Array(20).fill('/console'))
    const members = await rows(`SELECT FROM gateway_membership WHERE scope_type = 'team' AND scope_id = 'visitors'`)
    expect(members.length).toBe(21)
  })

  it('apply once: what administrators change afterwards stays', async () => {
    await arrive(across(0))
    const [{ user_id }] = await rows('SELECT * FROM gateway_account WHERE email = $1', [email()])
    await pair.admin('PATCH', `users/${user_id}`, { max_budget: 1, rpm_limit: null })
    await pair.admin('PATCH', 'organizations/sandbox', { max_budget: 2 })
    await pair.admin('PATCH', 'teams/visitors', { self_service_keys_enabled: false })
    await pair.admin('DELETE', `teams/visitors/members/${user_id}`)
    await arrive(across(1))
    provider.person = { sub: newId('sub'), email: `${newId('p')}@example.com`, email_verified: true }
    await arrive(across(0))
    expect(await rows('SELECT max_budget, rpm_limit FROM gateway_user WHERE user_id = $1', [user_id])).toEqual([
      { max_budget: '1', rpm_limit: null },
    ])
    expect(await rows('SELECT max_budget FROM gateway_organization')).toEqual([{ max_budget: '2' }])
    expect(await rows('SELECT self_service_keys_enabled FROM gateway_team')).toEqual([
      { self_service_keys_enabled: false },
    ])
    expect(await rows('SELECT scope_type FROM gateway_membership WHERE user_id = $1', [user_id])).toEqual([
      { scope_type: 'organization' },
    ])
  })

  it('add the memberships to an account that is linked, and leave its own as they are', async () => {
    await pair.admin('POST', 'organizations', { organization_id: 'acme' })
    await pair.sql.query(`INSERT INTO gateway_user (user_id, user_email, max_budget) VALUES ('ann', $1, 3)`, [email()])
    await pair.sql.query(
      `INSERT INTO gateway_account (account_id, user_id, email, email_key, email_proved, platform_role)
        VALUES ('account-ann', 'ann', $1, $1, true, 'org_user')`,
      [email()],
    )
    await pair.sql.query(`INSERT INTO gateway_membership VALUES ('organization', 'acme', 'ann', 'org_owner'),
      ('organization', 'sandbox', 'ann', 'org_admin')`)
    const browser = across(0)
    await arrive(browser)
    expect(await browser.me()).toMatchObject({
      account_id: 'account-ann',
      organizations: [
        { id: 'acme', role: 'org_owner' },
        { id: 'sandbox', role: 'org_admin' },
      ],
      teams: [{ id: 'visitors' }],
    })
    expect(await rows(`SELECT max_budget FROM gateway_user WHERE user_id = 'ann'`)).toEqual([{ max_budget: '3' }])
  })

  it.each([
    ['x@bücher.example', true, '/console'],
    ['w@XN--BCHER-KVA.example', true, '/console'],
    ['x@EXAMPLE.COM', true, '/console'],
    ['y@example.com', false, '/console/sign-in?problem=unverified_email'],
    ['y@evil.example', false, '/console/sign-in?problem=unverified_email'],
    ['"y@example.com"@evil.example', true, '/console/sign-in?problem=unverified_email'],
    ['y@evil.example@example.com', true, '/console/sign-in?problem=unverified_email'],
    ['y@example.com\0', true, '/console/sign-in?problem=unverified_email'],
  ])('of %s (verified: %s) lead to %s', async (address, email_verified, location) => {
    provider.person = { sub: newId('sub'), email: address, email_verified }
    expect((await arrive(across(0))).headers.get('location')).toBe(location)
  })

  it.each(['x@example.com.evil.example', 'x@sub.example.com', 'x@notexample.com', 'x@example.com.'])(
    'of %s are blocked, by a page',
    async (address) => {
      provider.person = { sub: newId('sub'), email: address, email_verified: true }
      const browser = across(0)
      const { callback } = await browser.toProvider()
      const blocked = await browser.open(callback, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
      expect([blocked.status, blocked.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
      expect(blocked.headers.get('content-security-policy')).toContain("default-src 'none'")
      const page = await blocked.text()
      expect(page).toContain('no access')
      expect(page).not.toContain('<script')
      expect(blocked.headers.getSetCookie()).toEqual([])
      const plain = await arrive(across(1))
      expect([plain.status, await plain.json()]).toEqual([
        403,
        { error: expect.objectContaining({ code: 'blocked_domain', type: 'permission_error' }) },
      ])
      expect(await rows('SELECT FROM gateway_account_identity WHERE subject = $1', [provider.person.sub])).toEqual([])
    },
  )

  it('show no token, code or secret in any answer, log line or row', async () => {
    await arrive(across(0))
    provider.lies = { foreignKey: true }
    await arrive(across(1))
    provider.lies = { claims: (claims) => ({ ...claims, nonce: 'x' }) }
    await arrive(across(0))
    provider.lies = { back: { code: 'code-canary-1f' } }
    await arrive(across(0))
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const dump = JSON.stringify([
      await rows('SELECT row_to_json(e)::text AS text FROM gateway_audit_event AS e'),
      await rows('SELECT row_to_json(i)::text AS text FROM gateway_account_identity AS i'),
      await rows('SELECT row_to_json(s)::text AS text FROM gateway_session AS s'),
    ])
    expect(dump).toContain('account.sso_login')
    const seen = [dump, ...pair.gateways.flatMap((gateway) => [gateway.output(), gateway.errors()])].join('\n')
    expect(seen).toContain('sso.failed')
    const secrets = [...new Set([...provider.secrets, 'code-canary-1f', ...SECRETS])]
    expect(secrets.length).toBeGreaterThan(100)
    expect(secrets.filter((secret) => secret !== '' && seen.includes(secret))).toEqual([])
    const told = answers.filter((answer) => !answer.startsWith('/auth/callback')).join('\n')
    expect(secrets.filter((secret) => secret !== '' && told.includes(secret))).toEqual([])
  })

  it('are off while the shared store is away', async () => {
    const late = across(0)
    const { callback } = await late.toProvider()
    await pair.redis.stop()
    const html = { accept: 'text/html' }
    const page = await across(0).open('/auth/login', html)
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('Single sign-on is off')
    const plain = await across(1).open('/auth/login')
    expect([plain.status, (await plain.json()) as object]).toMatchObject([
      503,
      { error: { code: 'store_unavailable' } },
    ])
    expect((await late.open(callback)).headers.get('location')).toBe('/console/sign-in?problem=store_away')
    expect(await rows('SELECT FROM gateway_account WHERE email = $1', [email()])).toEqual([])
  })
})
