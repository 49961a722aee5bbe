import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { browser, signedIn } from '../../../support/people.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const postgresUrl = inject('postgresUrl')
const models = 'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]'
const PASSWORD = 'correct horse battery staple'

describe.skipIf(!postgresUrl)('invitations where no e-mail is configured', () => {
  const gateway = withFullGateway(
    async () => `general_settings: { database_url: '${await preparedDatabase(postgresUrl)}' }\n${models}`,
  )
  const ask = adminApi(() => gateway)
  beforeAll(async () => {
    await ask('POST', '/organizations', { organization_id: 'acme', organization_name: 'Acme' })
    await ask('POST', '/teams', { team_id: 'red', organization_id: 'acme' })
    await ask('POST', '/teams', { team_id: 'lone' })
  })
  const tokenOf = (url: string) => url.slice(url.indexOf('#') + 1)
  const accept = (token: string, password?: string) =>
    browser(gateway.url).ask('POST', '/auth/invitations/accept', { token, ...(password ? { password } : {}) })

  it('show their link once, to whoever invites', async () => {
    const { status, body } = await ask('POST', '/invitations', { email: 'ann@example.com', team_id: 'red' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      email: 'ann@example.com',
      organization_id: null,
      organization_role: null,
      team_id: 'red',
      team_role: 'team_developer',
      state: 'pending',
      invited_by: null,
      mail: null,
    })
    expect(body.invitation_url).toBe(`${gateway.url}/console/invite#${tokenOf(body.invitation_url)}`)
    const remaining = Date.parse(body.expires_at) - Date.now()
    expect(Math.abs(remaining - 72 * 3_600_000)).toBeLessThan(60_000)
    const [listed] = (await ask('GET', '/invitations?search=ANN@')).body.data
    expect(listed).not.toHaveProperty('invitation_url')
    const again = await ask('POST', `/invitations/${body.invitation_id}/resend`)
    expect(tokenOf(again.body.invitation_url)).not.toBe(tokenOf(body.invitation_url))
    expect((await accept(tokenOf(body.invitation_url), PASSWORD)).status).toBe(404)
    expect((await accept(tokenOf(again.body.invitation_url), PASSWORD)).body.session_established).toBe(true)
  })

  it('lead nobody into the account of somebody else', async () => {
    const admin = await signedIn(gateway, { role: 'platform_admin', passwordHash: 'x' })
    const bare = await signedIn(gateway, { organizations: { acme: 'org_owner' } })
    const inviter = await signedIn(gateway, { teams: { red: 'team_admin' } })
    for (const { email } of [admin, bare]) {
      const { body } = await inviter.ask('POST', '/ui/api/invitations', { email, team_id: 'red' })
      const seen = await browser(gateway.url).ask('GET', `/auth/invitations/${tokenOf(body.invitation_url)}`)
      expect(seen.body).toMatchObject({ valid: true, password_required: false })
      const done = await accept(tokenOf(body.invitation_url), PASSWORD)
      expect([done.body.session_established, done.body.next_step, done.headers.getSetCookie()]).toEqual([
        false,
        'login',
        [],
      ])
    }
    const [row] = await rowsOf(
      gateway.sql,
      sql`SELECT password_hash FROM gateway_account WHERE account_id = ${bare.accountId}`,
    )
    expect(row).toEqual({ password_hash: null })
  })

  it('last as long as the rights of their inviter', async () => {
    const owner = await signedIn(gateway, { organizations: { acme: 'org_owner' } })
    const invited = async (
      inviter: Awaited<ReturnType<typeof signedIn>>,
      access: object,
    ): Promise<{ id: string; valid(): Promise<boolean>; url: string }> => {
      const { body } = await inviter.ask('POST', '/ui/api/invitations', { email: 'second-way@example.com', ...access })
      const seen = () => browser(gateway.url).ask('GET', `/auth/invitations/${tokenOf(body.invitation_url)}`)
      return { id: body.invitation_id, valid: async () => (await seen()).body.valid, url: body.invitation_url }
    }
    const demoted = await signedIn(gateway, { organizations: { acme: 'org_owner' } })
    const [asOwner, asMember, ofTeam] = [
      await invited(demoted, { organization_id: 'acme', organization_role: 'org_owner' }),
      await invited(demoted, { organization_id: 'acme' }),
      await invited(demoted, { team_id: 'red' }),
    ]
    const members = '/organizations/acme/members'
    await ask('POST', members, { user_id: demoted.userId, role: 'org_admin' })
    expect([await asOwner.valid(), await asMember.valid(), await ofTeam.valid()]).toEqual([false, true, true])
    await ask('POST', members, { user_id: demoted.userId, role: 'org_member' })
    expect([await asMember.valid(), await ofTeam.valid()]).toEqual([false, false])
    expect((await accept(tokenOf(asMember.url), PASSWORD)).status).toBe(404)
    expect((await ask('GET', '/invitations?search=second-way&state=expired')).body.data).toHaveLength(3)

    // Who sends it again answers for it.
    const again = await owner.ask('POST', `/ui/api/invitations/${asMember.id}/resend`)
    expect(again.body).toMatchObject({ state: 'pending', invited_by: owner.accountId })
    await ask('PATCH', `/accounts/${owner.accountId}`, { state: 'disabled' })
    expect((await accept(tokenOf(again.body.invitation_url), PASSWORD)).status).toBe(404)
    await ask('PATCH', `/accounts/${owner.accountId}`, { state: 'active' })
    expect((await accept(tokenOf(again.body.invitation_url), PASSWORD)).status).toBe(200)

    const lead = await signedIn(gateway, { teams: { red: 'team_admin' } })
    const toRed = await invited(lead, { team_id: 'red' })
    expect(await toRed.valid()).toBe(true)
    await ask('DELETE', `/teams/red/members/${lead.userId}`)
    expect(await toRed.valid()).toBe(false)
    const admin = await signedIn(gateway, { role: 'platform_admin' })
    const intoNothing = await invited(admin, {})
    expect(await intoNothing.valid()).toBe(true)
    await ask('DELETE', `/accounts/${admin.accountId}`)
    expect(await intoNothing.valid()).toBe(false)
  })

  it.each([
    '',
    'no address',
    'ann@example.com\r\nBcc: all@example.com',
    'ann@example.com\n',
    'a@x.example\0',
    '\ud800@x.example',
    'Ann <ann@example.com>',
    'a@x.example,b@x.example',
    'x'.repeat(65_536),
    `a@${'b.'.repeat(300)}example`,
    null,
    7,
    {},
    ['a@x.example'],
  ])('take no address that is none: %j', async (email) => {
    const { status, body } = await ask('POST', '/invitations', { email })
    // White space at the ends is what people paste.
    if (email === 'ann@example.com\n') expect([status, body.email]).toEqual([201, 'ann@example.com'])
    else expect([status, body.error.param]).toEqual([400, 'email'])
  })

  it.each(['ann+x@example.com', "o'neil@example.com", 'a@bücher.example', '用户@例子.中国', 'A.B@Example.COM'])(
    'take %s',
    async (email) => {
      expect((await ask('POST', '/invitations', { email })).body).toMatchObject({ email, state: 'pending' })
    },
  )

  it('take nothing that they do not know', async () => {
    const email = 'x@example.com'
    for (const [body, param] of [
      [{ email, organization_id: 'nowhere' }, 'organization_id'],
      [{ email, team_id: 'nowhere' }, 'team_id'],
      [{ email, team_id: 'lone', organization_id: 'acme' }, 'team_id'],
      [{ email, organization_role: 'org_admin' }, 'organization_id'],
      [{ email, team_role: 'team_admin' }, 'team_id'],
      [{ email, organization_id: 'acme', organization_role: 'team_admin' }, 'organization_role'],
      [{ email, organization_id: 'acme', organization_role: 'platform_admin' }, 'organization_role'],
      [{ email, organization_id: '\0' }, 'organization_id'],
      [{ email, platform_role: 'platform_admin' }, 'platform_role'],
    ] as const) {
      const { status, body: answer } = await ask('POST', '/invitations', body)
      expect([status, answer.error.param], JSON.stringify(body)).toEqual([400, param])
    }
    for (const id of ['nothing', '%00', '%ED%A0%80', 'x'.repeat(3000)]) {
      for (const verb of ['resend', 'cancel']) {
        expect([400, 404]).toContain((await ask('POST', `/invitations/${id}/${verb}`)).status)
      }
    }
  })

  it('are listed by pages, and filtered', async () => {
    await rowsOf(gateway.sql, sql`DELETE FROM gateway_invitation`)
    for (let index = 0; index < 5; index++) {
      await ask('POST', '/invitations', {
        email: `p${index}@example.com`,
        ...(index % 2 === 0 ? { team_id: 'red' } : { organization_id: 'acme' }),
      })
    }
    const emails = async (query: string) => {
      const { data, next_cursor } = (await ask('GET', `/invitations?${query}`)).body
      return { emails: data.map((row: { email: string }) => row.email[1]).join(''), next_cursor }
    }
    const first = await emails('limit=2')
    expect(first.emails).toBe('43')
    expect((await emails(`limit=2&cursor=${first.next_cursor}`)).emails).toBe('21')
    expect((await emails('team_id=red')).emails).toBe('420')
    expect((await emails('organization_id=acme')).emails).toBe('43210')
    const { data } = (await ask('GET', '/invitations?search=p3')).body
    await ask('POST', `/invitations/${data[0].invitation_id}/cancel`)
    expect((await emails('state=cancelled')).emails).toBe('3')
    expect((await emails('state=pending')).emails).toBe('4210')
  })

  it('are told by the audit', async () => {
    const inviter = await signedIn(gateway, { organizations: { acme: 'org_admin' } })
    const access = { organization_id: 'acme', organization_role: 'org_auditor', team_id: 'red' }
    const { body } = await inviter.ask('POST', '/ui/api/invitations', { email: 'audited@example.com', ...access })
    await inviter.ask('POST', `/ui/api/invitations/${body.invitation_id}/resend`)
    await inviter.ask('POST', `/ui/api/invitations/${body.invitation_id}/cancel`)
    const events = await vi.waitFor(async () => {
      const found = await ask('GET', `/audit/events?resource_id=${body.invitation_id}`)
      expect(found.body.data).toHaveLength(3)
      return found.body.data
    }, 15_000)
    expect(events.map(({ action }: { action: string }) => action).sort()).toEqual([
      'invitation.cancel',
      'invitation.create',
      'invitation.resend',
    ])
    for (const event of events) {
      expect(event).toMatchObject({
        actor_type: 'account',
        actor_id: inviter.accountId,
        organization_id: 'acme',
        metadata: {
          email: 'audited@example.com',
          invited_organization_id: 'acme',
          organization_role: 'org_auditor',
          team_id: 'red',
          team_role: 'team_developer',
        },
      })
    }
    expect(JSON.stringify(events)).not.toContain(tokenOf(body.invitation_url))
  })
})
