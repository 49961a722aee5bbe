import { sql } from 'kysely'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { browser } from '../../support/people.ts'
import { freshDatabase } from '../../support/postgres.ts'

const postgresUrl = inject('postgresUrl')
const MODELS = 'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]'
const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' }

describe.skipIf(!postgresUrl)('the first administrator', () => {
  const running: FullGateway[] = []
  async function start(settings = '', database?: string): Promise<FullGateway> {
    const url = database ?? (await freshDatabase(postgresUrl as string))
    const gateway = await startFullGateway(`general_settings: { database_url: '${url}'${settings} }\n${MODELS}`)
    running.push(gateway)
    return gateway
  }
  afterEach(async () => {
    await Promise.all(running.splice(0).map((gateway) => gateway.close()))
  })
  const configured = `, platform_bootstrap_admin_email: ${ADMIN.email}, platform_bootstrap_admin_password: first-1`

  it('is made with the setup token, once, and signed in', async () => {
    const gateway = await start()
    const token = await gateway.setupToken()
    expect(token).toMatch(/^[\w-]{48}$/)
    expect(await gateway.setupToken()).toBeUndefined()
    const page = browser(gateway.url)
    expect((await page.ask('GET', '/auth/config')).body).toMatchObject({
      password: true,
      first_run: true,
      email: false,
    })
    // What is refused for its password does not cost the token.
    const weak = await page.ask('POST', '/auth/bootstrap', { ...ADMIN, token, password: 'short' })
    expect([weak.status, weak.body.error.param]).toEqual([400, 'password'])
    const made = await page.ask('POST', '/auth/bootstrap', { ...ADMIN, token })
    expect([made.status, made.body]).toMatchObject([201, { email: ADMIN.email, role: 'platform_admin' }])
    expect((await page.ask('GET', '/auth/me')).body).toMatchObject({ standing: 'complete', method: 'bootstrap' })
    expect((await page.ask('GET', '/ui/api/models')).status).toBe(200)
    expect((await page.ask('GET', '/auth/config')).body.first_run).toBe(false)
    expect((await page.ask('POST', '/auth/bootstrap', { ...ADMIN, token, email: 'b@example.com' })).status).toBe(404)
    expect((await browser(gateway.url).ask('POST', '/auth/internal/login', ADMIN)).status).toBe(200)
  })

  it('is made with the master key, and with nothing else', async () => {
    const gateway = await start()
    const refused = [
      await browser(gateway.url).ask('POST', '/auth/bootstrap', ADMIN),
      await browser(gateway.url).ask('POST', '/auth/bootstrap', { ...ADMIN, token: 'x' }),
      await browser(gateway.url).ask('POST', '/auth/bootstrap', { ...ADMIN, token: 'A'.repeat(48) }),
      await browser(gateway.url).ask('POST', '/auth/bootstrap', ADMIN, { authorization: 'Bearer sk-wrong' }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    const made = await browser(gateway.url).ask('POST', '/auth/bootstrap', ADMIN, {
      authorization: `Bearer ${MASTER_KEY}`,
    })
    expect(made.status).toBe(201)
  })

  it('is one, whoever tries at once on two gateways', async () => {
    const database = await freshDatabase(postgresUrl as string)
    const gateways = [await start('', database), await start('', database)]
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        browser((gateways[index % 2] as FullGateway).url).ask(
          'POST',
          '/auth/bootstrap',
          { ...ADMIN, email: `admin${index}@example.com` },
          { authorization: `Bearer ${MASTER_KEY}` },
        ),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(new Set(statuses)).toEqual(new Set([201, 404]))
    const accounts = await rowsOf((gateways[0] as FullGateway).sql, sql`SELECT FROM gateway_account`)
    const users = await rowsOf((gateways[0] as FullGateway).sql, sql`SELECT FROM gateway_user`)
    expect([accounts.length, users.length]).toEqual([1, 1])
  }, 60_000)

  it('of the configuration is there before anybody asks, and must change its password', async () => {
    const gateway = await start(configured)
    expect(await gateway.setupToken()).toBeUndefined()
    const page = browser(gateway.url)
    expect((await page.ask('GET', '/auth/config')).body.first_run).toBe(false)
    const signedIn = await page.ask('POST', '/auth/internal/login', { email: ADMIN.email, password: 'first-1' })
    expect([signedIn.status, signedIn.body]).toMatchObject([
      200,
      { must_change_password: true, standing: 'password_expired', role: 'platform_admin' },
    ])
    const refused = await page.ask('GET', '/ui/api/keys')
    expect([refused.status, refused.body.error.code]).toEqual([403, 'password_change_required'])
    const made = sql`SELECT actor_type, resource_id, metadata FROM gateway_audit_event WHERE action = 'account.bootstrap'`
    await expect
      .poll(() => rowsOf(gateway.sql, made))
      .toEqual([
        {
          actor_type: 'configuration',
          resource_id: signedIn.body.account_id,
          metadata: { email: ADMIN.email },
        },
      ])
  })

  it('of the configuration is made by the first login where nothing was made at the start', async () => {
    const gateway = await start(configured)
    const login = await browser(gateway.url).ask('POST', '/auth/internal/login', {
      email: ADMIN.email,
      password: 'first-1',
    })
    expect(login.status).toBe(200)
  })

  it('of the configuration comes only where there is no account, and no password is changed', async () => {
    const database = await freshDatabase(postgresUrl as string)
    const gateway = await start(configured, database)
    await gateway.setupToken()
    const other = await start(configured.replace('first-1', 'another-2').replace('admin@', 'other@'), database)
    await other.setupToken()
    const accounts = await rowsOf(other.sql, sql<{ email: string }>`SELECT email FROM gateway_account`)
    expect(accounts).toEqual([{ email: ADMIN.email }])
    const login = (password: string) =>
      browser(other.url).ask('POST', '/auth/internal/login', { email: ADMIN.email, password })
    expect((await login('another-2')).status).toBe(401)
    expect((await login('first-1')).status).toBe(200)
  })
})
