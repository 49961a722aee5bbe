import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '../../../src/lib/token.ts'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { browser, signedIn } from '../../support/people.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

describe('an address that sends cookies of no session', () => {
  const gateway = withFullGateway(() => 'general_settings: { max_failed_authentications: 20 }')

  it('gets 429 for what fails, whatever it is, while sessions that are remembered and logins go on', async () => {
    const page = browser(gateway.url)
    const login = { master_key: MASTER_KEY }
    expect((await page.ask('POST', '/auth/internal/login', login)).status).toBe(200)
    const unknown = (turn: number) => ({ cookie: `gateway_session=${turn % 2 === 0 ? newToken() : 'nonsense'}` })
    const statuses: number[] = []
    for (let turn = 0; turn < 40; turn++) {
      const response = await fetch(`${gateway.url}/ui/api/keys`, { headers: unknown(turn) })
      statuses.push(response.status)
      const { error } = (await response.json()) as { error: object }
      if (response.status === 429) expect(error).toMatchObject({ code: 'too_many_failed_authentications' })
    }
    expect(statuses.slice(0, 20)).toEqual(new Array(20).fill(401))
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(15)
    expect((await page.ask('GET', '/ui/api/keys')).status).toBe(200)
    const me = await fetch(`${gateway.url}/auth/me`, { headers: unknown(0) })
    expect([me.status, await me.json()]).toMatchObject([200, { authenticated: false }])
    expect((await browser(gateway.url).ask('POST', '/auth/internal/login', login)).status).toBe(200)
  })
})

describe('sessions', () => {
  let gateway: FullGateway

  beforeAll(async () => {
    gateway = await startFullGateway('model_list: [{ model_name: m, gateway_params: { model: echo/m } }]')
  })
  afterAll(() => gateway?.close())

  const fromMasterKey = async () => {
    const page = browser(gateway.url)
    const opened = await page.ask('POST', '/auth/internal/login', { master_key: MASTER_KEY })
    expect(opened.status).toBe(200)
    return { page, opened }
  }

  it('are opened with the master key, for an hour, by a cookie that no script reads', async () => {
    const { page, opened } = await fromMasterKey()
    const [cookie] = opened.headers.getSetCookie()
    expect(cookie).toMatch(/^gateway_session=[\w-]{48}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/)
    expect(opened.body).toMatchObject({ authenticated: true, role: 'platform_admin', account_id: null })
    expect(Date.parse(opened.body.expires_at) - Date.now()).toBeGreaterThan(3_500_000)
    expect(Date.parse(opened.body.expires_at) - Date.now()).toBeLessThan(3_700_000)
    expect((await page.ask('GET', '/auth/me')).body).toEqual(opened.body)
    const keys = await page.ask('GET', '/ui/api/keys')
    expect([keys.status, keys.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect((await page.ask('POST', '/ui/api/teams', { team_name: 'made by a session' })).status).toBe(201)
  })

  it('are kept in no memory of a browser: what they are shown, nor what is not there', async () => {
    const { page } = await fromMasterKey()
    const paths = ['/auth/me', '/auth/config', '/auth/no-such', '/ui/api/keys/no-such', '/ui/api/no-such']
    const health = ['/health/deployments', '/health/fallback-events', '/health']
    for (const path of [...paths, ...health]) {
      const answer = await page.ask('GET', path)
      expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store'])
    }
    expect((await page.ask('PUT', '/ui/api/keys')).headers.get('cache-control')).toBe('no-store')
  })

  it('are refused any other key', async () => {
    const made = await (await gateway.fetch('/ui/api/keys', { method: 'POST' })).json()
    for (const key of [made.key, `${MASTER_KEY}x`, 'sk-unknown']) {
      const refused = await browser(gateway.url).ask('POST', '/auth/internal/login', { master_key: key })
      expect([refused.status, refused.body.error.type]).toEqual([401, 'authentication_error'])
      expect(refused.headers.getSetCookie()).toEqual([])
    }
  })

  it('are kept as a hash', async () => {
    const { page } = await fromMasterKey()
    const rows = await rowsOf(gateway.sql, sql`SELECT row_to_json(s)::text AS text FROM gateway_session AS s`)
    expect(JSON.stringify(rows)).not.toContain(page.token)
  })

  it('say who is nobody', async () => {
    for (const token of ['', 'x', 'A'.repeat(48), '../../x', 'ü'.repeat(4000)]) {
      const me = await browser(gateway.url, encodeURIComponent(token)).ask('GET', '/auth/me')
      expect([me.status, me.body]).toEqual([200, { authenticated: false }])
    }
  })

  it('end with the logout, at once', async () => {
    const { page } = await fromMasterKey()
    const { token } = page
    const out = await page.ask('POST', '/auth/internal/logout')
    expect(out.status).toBe(200)
    expect(page.token).toBe('')
    const stolen = browser(gateway.url, token)
    expect((await stolen.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    const refused = await stolen.ask('GET', '/ui/api/keys')
    expect([refused.status, refused.body.error.code]).toEqual([401, 'session_ended'])
    expect((await page.ask('POST', '/auth/internal/logout')).status).toBe(200)
  })

  it('answer no page that was opened by another account', async () => {
    const { page } = await fromMasterKey()
    const named = (name: string) => page.ask('GET', '/ui/api/keys', undefined, { 'x-gateway-account': name })
    const refused = await named('account-1')
    expect([refused.status, refused.body.error.code]).toEqual([401, 'another_account'])
    expect([(await named('')).status, (await named('master_key')).status]).toEqual([200, 200])
  })

  it('are not forgotten by the browser because a page of another site sent a form', async () => {
    const form = { 'sec-fetch-site': 'cross-site', 'content-type': 'application/x-www-form-urlencoded' }
    // The browser keeps the cookie itself back, but would keep the one of the answer.
    const refused = await browser(gateway.url).ask('POST', '/auth/internal/logout', undefined, form)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'cross_origin'])
    expect(refused.headers.getSetCookie()).toEqual([])
  })

  it('are found beside a cookie that is none, and not at all beside another session', async () => {
    const [one, other] = [await signedIn(gateway), await signedIn(gateway)]
    const me = async (...values: string[]) => {
      const cookie = values.map((value) => `gateway_session=${value}`).join('; ')
      return (await browser(gateway.url).ask('GET', '/auth/me', undefined, { cookie })).body.email
    }
    expect(await Promise.all([me('', 'x', one.token), me(one.token, 'x'), me(one.token, one.token)])).toEqual([
      one.email,
      one.email,
      one.email,
    ])
    expect(await Promise.all([me(one.token, other.token), me(other.token, one.token)])).toEqual([undefined, undefined])
  })

  it('take writes only from pages of the gateway, and only as JSON', async () => {
    const { page } = await fromMasterKey()
    const foreign = [
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'none' },
      { origin: 'null' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
    ]
    for (const headers of foreign) {
      const refused = await page.ask('POST', '/ui/api/teams', {}, headers as Record<string, string>)
      expect([refused.status, refused.body.error.code], JSON.stringify(headers)).toEqual([403, 'cross_origin'])
    }
    const bare = await fetch(`${gateway.url}/ui/api/teams`, {
      method: 'POST',
      headers: { cookie: `gateway_session=${page.token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(bare.status).toBe(403)
  })

  it('call no model', async () => {
    const { page } = await fromMasterKey()
    const body = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
    const answers = [
      await page.ask('POST', '/v1/chat/completions', body),
      await page.ask('GET', '/v1/models'),
      await page.ask('GET', '/health/fallback-events'),
    ]
    expect(answers.map(({ status }) => status).slice(0, 2)).toEqual([401, 401])
  })

  it('of an account lists its own, and ends them', async () => {
    const [one, other] = [await signedIn(gateway), await signedIn(gateway)]
    const mine = await one.ask('GET', '/auth/sessions')
    expect(mine.body.data).toMatchObject([{ session_id: one.sessionId, current: true, method: 'password' }])
    expect((await one.ask('DELETE', `/auth/sessions/${other.sessionId}`)).status).toBe(404)
    expect((await other.ask('GET', '/auth/me')).body.authenticated).toBe(true)
    for (const id of ['%00', '%27%3b--', '__proto__', '%ff', '%ED%A0%80', 'x'.repeat(3000)]) {
      expect([400, 404], id).toContain((await one.ask('DELETE', `/auth/sessions/${id}`)).status)
    }
    expect((await one.ask('DELETE', `/auth/sessions/${one.sessionId}`)).status).toBe(200)
    expect((await one.ask('GET', '/auth/sessions')).status).toBe(401)
  })

  it('reach what the roles of their account permit', async () => {
    await gateway.fetch('/ui/api/organizations', post({ organization_id: 'acme' }))
    await gateway.fetch('/ui/api/teams', post({ team_id: 'red', organization_id: 'acme', team_name: 'Red' }))
    const developer = await signedIn(gateway, { teams: { red: 'team_developer' } })
    const me = (await developer.ask('GET', '/auth/me')).body
    expect(me).toMatchObject({
      role: 'org_user',
      permissions: [],
      organizations: [],
      teams: [
        {
          id: 'red',
          name: 'Red',
          organization_id: 'acme',
          role: 'team_developer',
          permissions: ['team.read', 'user.read', 'key.read', 'key.create_self'],
        },
      ],
    })
    expect(me.pages).not.toContain('deployments')
    const admin = await signedIn(gateway, { role: 'platform_admin' })
    expect((await admin.ask('GET', '/ui/api/models')).status).toBe(200)
    expect((await developer.ask('GET', '/ui/api/models')).status).toBe(403)
  })

  it('administer nothing until their second factor and their password are in order', async () => {
    const admin = await signedIn(gateway, { role: 'platform_admin', passwordHash: 'x', mustChangePassword: true })
    const refused = await admin.ask('GET', '/ui/api/keys')
    expect([refused.status, refused.body.error.code]).toEqual([403, 'password_change_required'])
    expect((await admin.ask('GET', '/auth/me')).body).toMatchObject({ standing: 'password_expired', pages: [] })
  })

  it('that nobody has used for twelve hours have ended', async () => {
    const idle = await signedIn(gateway)
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_session SET last_used_at = now() - interval '12 hours 1 second'
        WHERE session_id = ${idle.sessionId}`,
    )
    expect((await idle.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
  })
})

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
