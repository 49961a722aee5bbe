import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newToken } from '../../../../src/lib/token.ts'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { type MailReceiver, startMailReceiver, textOf } from '../../../support/mail-receiver.node.ts'
import { browser, signedIn } from '../../../support/people.ts'

const PASSWORD = 'correct horse battery staple'
const models = 'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]'

describe('an invitation by e-mail', () => {
  let gateway: FullGateway
  let mail: MailReceiver
  const ask = adminApi(() => gateway)
  let places = 0

  beforeAll(async () => {
    mail = await startMailReceiver()
    gateway = await startFullGateway(
      `general_settings: { email_provider: smtp, email_base_url: 'https://gateway.example/gw/',
        email_from: 'Gateway <gateway@example.com>', email_smtp_host: 127.0.0.1, email_smtp_port: ${mail.port},
        trusted_proxies: [127.0.0.1] }\n${models}`,
    )
    for (const organization_id of ['acme', 'rival']) {
      await ask('POST', '/organizations', { organization_id, organization_name: `The ${organization_id}` })
    }
    for (const team_id of ['red', 'blue']) {
      await ask('POST', '/teams', { team_id, team_name: `Team ${team_id}`, organization_id: 'acme' })
    }
  })
  afterAll(async () => {
    await gateway?.close()
    await mail?.close()
  })

  /** From another place each time: one place may try only so often. */
  const elsewhere = () => ({ 'x-forwarded-for': `10.0.${Math.floor(++places / 250)}.${places % 250}` })
  const page = () => browser(gateway.url)
  const inspect = async (token: string) =>
    (await page().ask('GET', `/auth/invitations/${token}`, undefined, elsewhere())).body
  const accept = (token: string, password?: string, at = page()) =>
    at.ask('POST', '/auth/invitations/accept', { token, ...(password === undefined ? {} : { password }) }, elsewhere())

  async function invite(email: string, access: object = { organization_id: 'acme' }) {
    const before = mail.received.filter(({ to }) => to.includes(email)).length
    const { status, body } = await ask('POST', '/invitations', { email, ...access })
    expect([status, body.error]).toEqual([201, undefined])
    const link = await mail.linkTo(email, before)
    return { token: link.slice(link.indexOf('#') + 1), link, id: body.invitation_id as string, body }
  }

  const accountsOf = (email: string) =>
    rowsOf(
      gateway.sql,
      sql<{ account_id: string; password_hash: string | null; memberships: string[] }>`
        SELECT account_id, password_hash, (SELECT coalesce(json_agg(scope_id || ':' || role ORDER BY scope_id), '[]')
          FROM gateway_membership WHERE gateway_membership.user_id = account.user_id) AS memberships
        FROM gateway_account AS account WHERE email_key = ${email.toLowerCase()}`,
    )

  it('leads somebody new in: the link, the password, the places, a session', async () => {
    const email = 'New.Person+x@example.com'
    const { token, link, body } = await invite(email, {
      organization_id: 'acme',
      organization_role: 'org_auditor',
      team_id: 'red',
    })
    expect(body).not.toHaveProperty('invitation_url')
    expect(JSON.stringify(body)).not.toContain(token)
    expect(link).toMatch(/^https:\/\/gateway\.example\/gw\/console\/invite#[\w-]{48}$/)
    const text = textOf(mail.received.at(-1)?.raw ?? '')
    expect(text).toContain('join the organization “The acme” as auditor and the team “Team red” as developer')
    expect(await inspect(token)).toMatchObject({
      valid: true,
      email,
      organization: { id: 'acme', name: 'The acme' },
      team: { id: 'red', name: 'Team red' },
      role: 'team_developer',
      organization_role: 'org_auditor',
      password_required: true,
      expires_at: body.expires_at,
    })
    expect(await accountsOf(email)).toEqual([])
    const refused = await accept(token)
    expect([refused.status, refused.body.error.code]).toEqual([400, 'password_required'])
    expect((await accept(token, 'short')).body.error.code).toBe('password_too_short')
    const person = page()
    const done = await accept(token, PASSWORD, person)
    expect([done.status, done.body]).toEqual([200, { accepted: true, session_established: true, next_step: 'console' }])
    expect((await person.ask('GET', '/auth/me')).body).toMatchObject({
      email,
      role: 'org_user',
      method: 'invitation',
      standing: 'complete',
      organizations: [{ id: 'acme', role: 'org_auditor' }],
      teams: [{ id: 'red', role: 'team_developer' }],
    })
    const login = await page().ask('POST', '/auth/internal/login', { email: email.toLowerCase(), password: PASSWORD })
    expect(login.status).toBe(200)
    const again = await accept(token, PASSWORD)
    expect([again.status, again.body.error.code]).toEqual([404, 'invalid_invitation'])
    expect(await inspect(token)).toMatchObject({ valid: false, email: null })
    const [listed] = (await ask('GET', '/invitations?search=new.person')).body.data
    expect(listed).toMatchObject({ state: 'accepted', mail: { state: 'sent', attempts: 1, last_error: null } })
    expect(listed.accepted_by).toBe((await accountsOf(email))[0]?.account_id)
  })

  it('gives access to an account that there is, whose password nobody asks for or changes', async () => {
    const there = await signedIn(gateway, { passwordHash: 'scrypt-of-before', organizations: { acme: 'org_admin' } })
    await there.ask('GET', '/auth/me')
    const { token } = await invite(there.email, {
      organization_id: 'acme',
      organization_role: 'org_member',
      team_id: 'red',
    })
    expect(await inspect(token)).toMatchObject({ valid: true, password_required: false })
    const other = page()
    expect((await accept(token, 'another long password', other)).body).toMatchObject({ session_established: true })
    // The higher role stays, and the session that there was knows the new one at once.
    expect(await accountsOf(there.email)).toMatchObject([
      { password_hash: 'scrypt-of-before', memberships: ['acme:org_admin', 'red:team_developer'] },
    ])
    expect((await there.ask('GET', '/auth/me')).body.teams).toMatchObject([{ id: 'red', role: 'team_developer' }])
    expect((await other.ask('GET', '/auth/me')).body.email).toBe(there.email)
    const second = await invite(there.email, { team_id: 'red', team_role: 'team_admin' })
    const own = await accept(second.token, undefined, there)
    expect([own.body.session_established, own.headers.getSetCookie()]).toEqual([true, []])
    expect((await accountsOf(there.email))[0]?.memberships).toEqual(['acme:org_admin', 'red:team_admin'])
  })

  it('sends accounts with a second factor, and those of single sign-on, to sign in', async () => {
    const factor = await signedIn(gateway, { passwordHash: 'x' })
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_account SET totp_confirmed_at = now() WHERE account_id = ${factor.accountId}`,
    )
    const sso = await signedIn(gateway)
    await rowsOf(
      gateway.sql,
      sql`INSERT INTO gateway_account_identity (provider, subject, account_id) VALUES ('oidc', ${sso.accountId}, ${sso.accountId})`,
    )
    for (const { email } of [factor, sso]) {
      const { token } = await invite(email)
      expect(await inspect(token)).toMatchObject({ password_required: false })
      const done = await accept(token)
      expect([done.body, done.headers.getSetCookie()]).toEqual([
        { accepted: true, session_established: false, next_step: 'login' },
        [],
      ])
      expect((await accountsOf(email))[0]?.memberships).toEqual(['acme:org_member'])
    }
    expect((await accountsOf(sso.email))[0]?.password_hash).toBeNull()
  })

  it('is one of many for one address: each is accepted by itself, and there is one account', async () => {
    const [red, blue] = [
      await invite('many@example.com', { team_id: 'red' }),
      await invite('MANY@example.com', { team_id: 'blue' }),
    ]
    expect((await accept(red.token, PASSWORD)).status).toBe(200)
    expect(await inspect(blue.token)).toMatchObject({ valid: true, password_required: false })
    expect((await accept(blue.token)).status).toBe(200)
    expect(await accountsOf('many@example.com')).toMatchObject([
      { memberships: ['blue:team_developer', 'red:team_developer'] },
    ])
  })

  it('has one winner of fifty', { timeout: 60_000 }, async () => {
    const [one, other] = [
      await invite('fifty@example.com', { organization_id: 'acme' }),
      await invite('fifty@example.com', { organization_id: 'rival' }),
    ]
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        accept(index % 2 === 0 ? one.token : other.token, `${PASSWORD} ${index}`),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    expect(statuses.filter((status) => status !== 200 && status !== 404 && status !== 503)).toEqual([])
    expect(await accountsOf('fifty@example.com')).toMatchObject([
      { memberships: ['acme:org_member', 'rival:org_member'] },
    ])
    const winner = answers.findIndex(({ body }) => body.session_established === true)
    expect(winner).toBeGreaterThanOrEqual(0)
  })

  it('that is wrong, used, cancelled, replaced, too old, of a disabled account or to nowhere is the same', async () => {
    const cancelled = await invite('gone1@example.com')
    await ask('POST', `/invitations/${cancelled.id}/cancel`)
    const replaced = await invite('gone2@example.com')
    await ask('POST', `/invitations/${replaced.id}/resend`)
    const old = await invite('gone3@example.com')
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_invitation SET expires_at = now() - interval '1 second' WHERE invitation_id = ${old.id}`,
    )
    const disabled = await signedIn(gateway, { email: 'gone4@example.com', passwordHash: 'x' })
    const shut = await invite(disabled.email)
    await ask('PATCH', `/accounts/${disabled.accountId}`, { state: 'disabled' })
    await ask('POST', '/organizations', { organization_id: 'brief' })
    const nowhere = await invite('gone5@example.com', { organization_id: 'brief' })
    await ask('DELETE', '/organizations/brief')
    const tokens = [newToken(), 'x', cancelled, replaced, old, shut, nowhere].map((one) =>
      typeof one === 'string' ? one : one.token,
    )
    const seen = new Set<string>()
    for (const token of tokens) {
      const { body, status } = await accept(token, PASSWORD)
      seen.add(JSON.stringify([status, body, await inspect(token)]))
    }
    expect([...seen]).toHaveLength(1)
    expect([...seen][0]).toContain('invalid_invitation')
    const made = await rowsOf(
      gateway.sql,
      sql`SELECT FROM gateway_account WHERE email_key IN ('gone1@example.com', 'gone2@example.com', 'gone3@example.com', 'gone5@example.com')`,
    )
    expect(made).toEqual([])
  })

  it('of a member leads nowhere once they have left there, and elsewhere as before', async () => {
    const ann = await signedIn(gateway, { organizations: { acme: 'org_member', rival: 'org_member' } })
    const [back, team, other] = [
      await invite(ann.email, { organization_id: 'acme', organization_role: 'org_admin' }),
      await invite(ann.email, { team_id: 'blue' }),
      await invite(ann.email, { organization_id: 'rival', organization_role: 'org_admin' }),
    ]
    const left = await ask('DELETE', `/organizations/acme/members/${ann.userId}`)
    expect([left.status, left.body.cancelled_invitations]).toEqual([200, [back.id, team.id].sort()])
    expect(
      (await Promise.all([back, team, other].map(({ token }) => inspect(token)))).map(({ valid }) => valid),
    ).toEqual([false, false, true])
    expect((await accept(back.token)).status).toBe(404)
    expect((await accept(other.token, PASSWORD)).status).toBe(200)
    const [account] = await accountsOf(ann.email)
    expect(account?.memberships).toEqual(['rival:org_admin'])
  })

  it('of a resent link is good for another 72 hours', async () => {
    const { id, body } = await invite('again@example.com')
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_invitation SET expires_at = now() - interval '1 hour' WHERE invitation_id = ${id}`,
    )
    expect((await ask('GET', '/invitations?search=again@&state=expired')).body.data).toHaveLength(1)
    const renewed = await ask('POST', `/invitations/${id}/resend`)
    expect([renewed.status, renewed.body.state]).toEqual([200, 'pending'])
    expect(Date.parse(renewed.body.expires_at)).toBeGreaterThanOrEqual(Date.parse(body.expires_at))
    const link = await mail.linkTo('again@example.com', 1)
    expect((await accept(link.slice(link.indexOf('#') + 1), PASSWORD)).status).toBe(200)
    for (const verb of ['resend', 'cancel']) {
      const late = await ask('POST', `/invitations/${id}/${verb}`)
      expect([late.status, late.body.error.code]).toEqual([409, 'invitation_not_pending'])
    }
  })

  it('takes no token that could not be one', async () => {
    for (const token of ['%00', '%ff', '%ED%A0%80', "'%3b--", '__proto__', 'A'.repeat(48), 'x'.repeat(20_000)]) {
      const { status, body } = await page().ask('GET', `/auth/invitations/${token}`, undefined, elsewhere())
      expect([status === 200 ? body.valid === false : [400, 404, 414].includes(status), token.slice(0, 20)]).toEqual([
        true,
        token.slice(0, 20),
      ])
    }
    for (const token of ['\0', '\ud800', 'x'.repeat(65_536), '', null, {}, 7, ['x']]) {
      const { status } = await accept(token as string, PASSWORD)
      expect([400, 404]).toContain(status)
    }
    expect(
      (await page().ask('POST', '/auth/invitations/accept', { token: 'x', role: 'org_owner' }, elsewhere())).status,
    ).toBe(400)
  })

  it('is told by the audit, without its token', async () => {
    const { token, id } = await invite('told@example.com', { team_id: 'red', team_role: 'team_viewer' })
    await accept(newToken(), PASSWORD)
    await accept(token, PASSWORD)
    const [account] = await accountsOf('told@example.com')
    const events = await vi.waitFor(async () => {
      const found = await ask('GET', '/audit/events?action=account.invitation_accept&limit=2')
      expect(found.body.data[0]).toMatchObject({ resource_id: account?.account_id })
      return found.body.data
    }, 15_000)
    expect(events).toMatchObject([
      {
        actor_type: 'account',
        actor_id: account?.account_id,
        organization_id: 'acme',
        status: 200,
        metadata: {
          invitation_id: id,
          team_id: 'red',
          team_role: 'team_viewer',
          granted: [{ scope: 'team', id: 'red', role: 'team_viewer' }],
          new_account: true,
          password_set: true,
        },
      },
      { actor_type: 'anonymous', actor_id: null, resource_id: null, status: 404 },
    ])
    const all = JSON.stringify((await ask('GET', '/audit/events?limit=1000')).body)
    expect(all).not.toContain(token)
    expect(all).not.toContain(PASSWORD)
    const kept = await rowsOf(
      gateway.sql,
      sql`SELECT row_to_json(i)::text AS text FROM gateway_invitation AS i UNION ALL SELECT row_to_json(e)::text FROM gateway_email AS e`,
    )
    expect(JSON.stringify(kept)).not.toContain(token)
  })

  it('may be tried only so often from one place', async () => {
    const from = { 'x-forwarded-for': '192.0.2.77' }
    const statuses: number[] = []
    for (let index = 0; index < 62; index++) {
      const path = `/auth/invitations/${newToken()}`
      statuses.push((await page().ask('GET', path, undefined, from)).status)
    }
    expect(statuses.slice(0, 60).every((status) => status === 200)).toBe(true)
    const late = await page().ask('POST', '/auth/invitations/accept', { token: newToken() }, from)
    expect([statuses[60], late.status, late.body.error.code]).toEqual([429, 429, 'too_many_attempts'])
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await inspect(newToken())).toMatchObject({ valid: false })
  })
})
