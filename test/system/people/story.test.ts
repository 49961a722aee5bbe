import { existsSync } from 'node:fs'
import { generateHOTP } from '@oslojs/otp'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { fromBase32 } from '../../../src/lib/bytes/base32.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const executablePath = '/usr/bin/chromium'
const postgresUrl = inject('postgresUrl')
const missing = (!existsSync(executablePath) || !postgresUrl) && !process.env.CI

const ADMIN = { email: 'admin@example.com', first: 'bootstrap-1', password: 'a garden full of tin robots' }
const ANN = { email: 'ann@example.org', password: 'seven quiet harbour lights' }

interface Told {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

/** The whole way of two people, in a browser that keeps their cookies and sends what browsers send. */
describe.skipIf(missing)('people', () => {
  const mails: string[] = []
  const mailServer = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, _session, done) {
      let text = ''
      stream.on('data', (piece) => (text += piece))
      stream.on('end', () => {
        mails.push(text)
        done()
      })
    },
  })
  let gateway: FullGateway
  let browser: Browser

  beforeAll(async () => {
    await new Promise<void>((resolve) => mailServer.listen(0, '127.0.0.1', resolve))
    const { port } = mailServer.server.address() as { port: number }
    const database = await preparedDatabase(postgresUrl as string)
    gateway = await startFullGateway(`
general_settings:
  database_url: '${database}'
  platform_bootstrap_admin_email: ${ADMIN.email}
  platform_bootstrap_admin_password: ${ADMIN.first}
  email_provider: smtp
  email_from: 'Gateway <gateway@example.com>'
  email_base_url: http://localhost:8787
  email_smtp_host: 127.0.0.1
  email_smtp_port: ${port}
model_list: [{ model_name: echo, gateway_params: { model: echo/echo } }]
`)
    browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
    })
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.close()
    await new Promise<void>((resolve) => mailServer.close(() => resolve()))
  })

  /** Somebody in front of a page of the gateway. */
  async function visitor(): Promise<{ ask: (method: string, path: string, body?: unknown) => Promise<Told> }> {
    const context: BrowserContext = await browser.newContext()
    const page: Page = await context.newPage()
    await page.goto(`${gateway.url}/docs`)
    return {
      ask: (method, path, body) =>
        page.evaluate(
          async ([verb, address, text]) => {
            const response = await fetch(address, {
              method: verb,
              ...(verb === 'GET' ? {} : { headers: { 'content-type': 'application/json' } }),
              ...(text === undefined ? {} : { body: text }),
            })
            return { status: response.status, body: await response.json() }
          },
          [method, path, body === undefined ? undefined : JSON.stringify(body)] as const,
        ),
    }
  }

  const codeOf = (secret: string, steps = 0) =>
    generateHOTP(fromBase32(secret), BigInt(Math.floor(Date.now() / 30_000) + steps), 6)

  /** The token of the link in the newest mail. */
  async function mailedToken(count: number): Promise<string> {
    await expect.poll(() => mails.length, { timeout: 15_000 }).toBe(count)
    const text = (mails.at(-1) as string).replaceAll('=\r\n', '').replaceAll('=3D', '=')
    const token = /console\/invite#([\w-]{48})/.exec(text)?.[1]
    expect(token).toBeDefined()
    return token as string
  }

  it('go from a fresh start to a key of their own, and the key dies when they leave', async () => {
    const admin = await visitor()
    expect((await admin.ask('GET', '/auth/config')).body).toMatchObject({ first_run: false, email: true })
    const { email } = ADMIN
    const first = await admin.ask('POST', '/auth/internal/login', { email, password: ADMIN.first })
    expect([first.status, first.body.standing]).toEqual([200, 'password_expired'])
    expect((await admin.ask('GET', '/ui/api/teams')).body.error.code).toBe('password_change_required')
    const changed = await admin.ask('POST', '/auth/internal/change-password', {
      current_password: ADMIN.first,
      new_password: ADMIN.password,
    })
    expect(changed.status).toBe(200)

    const enrolling = await admin.ask('POST', '/auth/mfa/enroll/start')
    expect(enrolling.body.otpauth_url).toContain('otpauth://totp/')
    const { secret } = enrolling.body
    const used = codeOf(secret)
    const confirmed = await admin.ask('POST', '/auth/mfa/enroll/confirm', { code: used })
    expect([confirmed.status, confirmed.body.recovery_codes.length]).toEqual([200, 10])
    expect((await admin.ask('GET', '/auth/me')).body).toMatchObject({ standing: 'complete', mfa_verified: true })

    await admin.ask('POST', '/ui/api/organizations', { organization_id: 'acme', organization_name: 'Acme' })
    const team = { team_id: 'red', organization_id: 'acme', self_service_keys_enabled: true }
    expect((await admin.ask('POST', '/ui/api/teams', team)).status).toBe(201)
    const invited = await admin.ask('POST', '/ui/api/invitations', {
      email: ANN.email,
      organization_id: 'acme',
      organization_role: 'org_member',
      team_id: 'red',
      team_role: 'team_developer',
    })
    expect(invited.status).toBe(201)
    const token = await mailedToken(1)
    expect(JSON.stringify(invited.body)).not.toContain(token)

    const ann = await visitor()
    expect((await ann.ask('GET', `/auth/invitations/${token}`)).body).toMatchObject({
      valid: true,
      email: ANN.email,
      password_required: true,
    })
    const accepted = await ann.ask('POST', '/auth/invitations/accept', { token, password: ANN.password })
    expect([accepted.status, accepted.body]).toMatchObject([200, { accepted: true, session_established: true }])
    const me = (await ann.ask('GET', '/auth/me')).body
    expect(me.teams).toMatchObject([{ id: 'red', role: 'team_developer' }])
    expect((await ann.ask('GET', '/ui/api/models')).status).toBe(403)

    const own = await ann.ask('POST', '/ui/api/keys', { team_id: 'red', key_name: "Ann's" })
    expect([own.status, own.body.owner_account_id, own.body.user_id]).toEqual([201, me.account_id, me.user_id])
    expect((await ann.ask('GET', '/ui/api/keys?owner=me')).body.data).toHaveLength(1)
    const call = () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${own.body.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }),
      })
    expect((await call()).status).toBe(200)

    const left = await ann.ask('DELETE', `/ui/api/teams/red/members/${me.user_id}`)
    expect([left.status, left.body.revoked_keys]).toEqual([200, [own.body.key_id]])
    expect((await call()).status).toBe(401)
    expect((await ann.ask('GET', '/auth/me')).body.teams).toEqual([])

    // A second sign-in wants the second factor, with a code that was not used before.
    const again = await visitor()
    const half = await again.ask('POST', '/auth/internal/login', { email, password: ADMIN.password })
    expect([half.status, half.body.standing]).toEqual([200, 'unverified'])
    expect((await again.ask('GET', '/ui/api/teams')).body.error.code).toBe('mfa_required')
    expect((await again.ask('POST', '/auth/mfa/verify', { code: used })).status).toBe(401)
    expect((await again.ask('POST', '/auth/mfa/verify', { code: codeOf(secret, 1) })).status).toBe(200)
    expect((await again.ask('GET', '/ui/api/teams')).status).toBe(200)

    const events = (await again.ask('GET', '/ui/api/audit/events?limit=200')).body.data
    const actions = new Set(events.map(({ action }: { action: string }) => action))
    for (const action of ['account.login', 'account.mfa_enable', 'invitation.create', 'account.invitation_accept'])
      expect(actions, action).toContain(action)
    const told = JSON.stringify(events)
    for (const secretText of [token, secret, own.body.key, ADMIN.first, ADMIN.password, ANN.password])
      expect(told).not.toContain(secretText)
  }, 90_000)
})
