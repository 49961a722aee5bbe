import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/ids.ts'
import { CLIENT, type ScriptedProvider, scriptedProvider } from '../../support/scripted-provider.node.ts'
import { signOnBrowser } from '../../support/sign-on.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

describe.skipIf(!edgeExists())('on workerd, single sign-on', () => {
  let provider: ScriptedProvider
  let edge: Edge
  let one: Workerd
  let other: Workerd
  let sql: pg.Pool

  beforeAll(async () => {
    provider = await scriptedProvider()
    edge = await startEdge()
    sql = new pg.Pool({ connectionString: edge.databaseUrl, max: 2 })
    const modules = withConfig(
      await workerModules(),
      JSON.stringify({
        general_settings: {
          enable_sso: true,
          sso_provider: 'oidc',
          sso_issuer: provider.url,
          sso_client_id: CLIENT.id,
          sso_client_secret: CLIENT.secret,
          sso_redirect_uri: 'http://127.0.0.1:1/auth/callback',
          self_registration: {
            enabled: true,
            allowed_domains: ['example.com'],
            default_org: { id: 'sandbox' },
            default_team: { id: 'visitors' },
          },
        },
      }),
    )
    one = await startWorkerd(modules, edge.variables)
    other = await startWorkerd(modules, edge.variables)
  })
  afterAll(async () => {
    await Promise.all([one?.stop(), other?.stop()])
    await sql?.end()
    await edge?.close()
    await provider?.close()
  })
  beforeEach(() => {
    provider.lies = {}
    provider.person = { sub: newId('sub'), email: `${newId('p')}@example.com`, email_verified: true }
  })

  const rows = async (text: string, values: unknown[] = []) => (await sql.query(text, values)).rows
  const accounts = () => rows('SELECT * FROM gateway_account WHERE email = $1', [provider.person.email])
  const across = () => signOnBrowser(one.url, other.url)

  it('begins in one isolate and ends in another', async () => {
    const browser = across()
    const arrived = await browser.signOn('/console/keys')
    expect([arrived.status, arrived.headers.get('location')]).toEqual([302, '/console/keys'])
    expect(await browser.me()).toMatchObject({ method: 'sso', teams: [{ id: 'visitors' }] })
    // The keys are known by now, and the identity.
    const again = across()
    await again.signOn()
    expect(await again.me()).toMatchObject({ email: provider.person.email })
    expect((await accounts()).length).toBe(1)
  })

  it('makes one account of fifty first logins at once', async () => {
    const arrived = await Promise.all(Array.from({ length: 50 }, () => across().signOn()))
    expect(new Set(arrived.map((response) => response.headers.get('location')))).toEqual(new Set(['/console']))
    const [account, ...more] = await accounts()
    expect(more).toEqual([])
    const open = await rows('SELECT FROM gateway_session WHERE account_id = $1', [account.account_id])
    expect(open.length).toBe(50)
  })

  it.each([
    ['a foreign key', { foreignKey: true }],
    ['another nonce', { claims: (claims: object) => ({ ...claims, nonce: 'x' }) }],
    ['no signature', { unsigned: true }],
  ])('takes no login with %s', async (_, lies) => {
    provider.lies = lies
    const refused = await across().signOn()
    expect(refused.headers.get('location')).toBe('/console/sign-in?problem=provider_refused')
    expect(await accounts()).toEqual([])
  })

  it('does nothing by halves while the database is away', async () => {
    const [browser, later] = [across(), across()]
    const { callback } = await browser.toProvider()
    await edge.postgres.set('closed')
    const page = await browser.open(callback, { accept: 'text/html' })
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('database')
    expect(page.headers.getSetCookie()).toEqual([])
    const { callback: second } = await later.toProvider()
    const plain = await later.open(second)
    expect([plain.status, ((await plain.json()) as { error: object }).error]).toMatchObject([
      503,
      { code: 'database_unavailable' },
    ])
    await edge.postgres.set('open')
    expect(await accounts()).toEqual([])
    expect((await browser.signOn()).headers.get('location')).toBe('/console')
  })

  it('is off while the store is away, and comes again with it', async () => {
    const late = across()
    const { callback } = await late.toProvider()
    await edge.redis.set('closed')
    const off = await across().open('/auth/login')
    expect([off.status, ((await off.json()) as { error: object }).error]).toMatchObject([
      503,
      { code: 'store_unavailable' },
    ])
    expect((await late.open(callback)).headers.get('location')).toBe('/console/sign-in?problem=store_away')
    expect(await accounts()).toEqual([])
    await edge.redis.set('open')
    await expect
      .poll(async () => (await across().signOn()).headers.get('location'), { timeout: 15_000 })
      .toBe('/console')
  })
})
