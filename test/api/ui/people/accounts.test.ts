import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf, statementOf } from '../../../../src/stores/sql/query.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { signedIn } from '../../../support/people.ts'

describe('accounts', () => {
  let gateway: FullGateway
  const ask = adminApi(() => gateway)

  beforeAll(async () => {
    gateway = await startFullGateway('model_list: [{ model_name: m, gateway_params: { model: echo/m } }]')
    for (const organization_id of ['acme', 'rival']) await ask('POST', '/organizations', { organization_id })
    await ask('POST', '/teams', { team_id: 'red', organization_id: 'acme' })
  })
  afterAll(() => gateway?.close())

  it('are listed, searched and filtered, with what they are members of, and nothing secret', async () => {
    const ann = await signedIn(gateway, {
      email: 'Ann.Search@example.com',
      organizations: { acme: 'org_member' },
      teams: { red: 'team_admin' },
      passwordHash: 'scrypt-canary-71c2',
    })
    await ask('PATCH', `/users/${ann.userId}`, { max_budget: 40, budget_duration: '30d' })
    await gateway.sql.batch([
      statementOf(sql`INSERT INTO gateway_budget (subject, period, spent_nano)
        SELECT 'user:' || user_id || '@30d', to_char(budget_started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          12500000000 FROM gateway_user WHERE user_id = ${ann.userId}`),
    ])
    const { body } = await ask('GET', '/accounts?search=ann.SEARCH')
    expect(body.data).toMatchObject([
      {
        account_id: ann.accountId,
        user_id: ann.userId,
        email: 'Ann.Search@example.com',
        platform_role: 'org_user',
        state: 'active',
        has_password: true,
        identities: [],
        mfa_enabled: false,
        spend: 12.5,
        max_budget: 40,
        budget_duration: '30d',
        memberships: [
          { scope: 'organization', id: 'acme', role: 'org_member', organization_id: 'acme' },
          { scope: 'team', id: 'red', role: 'team_admin', organization_id: 'acme' },
        ],
      },
    ])
    expect(JSON.stringify(body)).not.toMatch(/canary|hash|totp|version/)
    expect((await ask('GET', `/accounts/${ann.accountId}`)).body).toEqual(body.data[0])
    const disabled = (await ask('GET', '/accounts?state=disabled')).body.data
    expect(disabled.map(({ account_id }: { account_id: string }) => account_id)).not.toContain(ann.accountId)
    expect((await ask('GET', '/accounts?mfa_enabled=true')).body.data).toEqual([])
    expect((await ask('GET', '/accounts?state=gone')).status).toBe(400)
  })

  it('are found by an organization, its teams included, and by a team', async () => {
    const inTeam = await signedIn(gateway, { teams: { red: 'team_viewer' } })
    const inOrganization = await signedIn(gateway, { organizations: { acme: 'org_member' } })
    const found = async (query: string) =>
      (await ask('GET', `/accounts?limit=200&${query}`)).body.data.map((one: { account_id: string }) => one.account_id)
    expect(await found('organization_id=acme')).toEqual(
      expect.arrayContaining([inTeam.accountId, inOrganization.accountId]),
    )
    expect(await found('team_id=red')).toContain(inTeam.accountId)
    expect(await found('team_id=red')).not.toContain(inOrganization.accountId)
    expect(await found('organization_id=rival')).not.toContain(inTeam.accountId)
  })

  it('are listed page by page', async () => {
    for (let more = 0; more < 3; more++) await signedIn(gateway)
    const all = (await ask('GET', '/accounts?limit=200')).body.data
    const paged: unknown[] = []
    let cursor = ''
    do {
      const { body } = await ask('GET', `/accounts?limit=2&cursor=${cursor}`)
      paged.push(...body.data)
      cursor = body.next_cursor
    } while (cursor)
    expect(paged).toEqual(all)
  })

  it('show an administrator of an organization its own people, and of them only what belongs there', async () => {
    const owner = await signedIn(gateway, { organizations: { acme: 'org_owner' } })
    const both = await signedIn(gateway, { organizations: { acme: 'org_member', rival: 'org_owner' } })
    const foreign = await signedIn(gateway, { organizations: { rival: 'org_member' } })
    const seen = (await owner.ask('GET', '/ui/api/accounts?limit=200')).body.data
    const ids = seen.map(({ account_id }: { account_id: string }) => account_id)
    expect(ids).toContain(both.accountId)
    expect(ids).not.toContain(foreign.accountId)
    expect(JSON.stringify(seen)).not.toContain('rival')
    expect((await owner.ask('GET', `/ui/api/accounts/${foreign.accountId}`)).status).toBe(404)
    // Nor does a filter tell of what lies elsewhere.
    expect((await owner.ask('GET', '/ui/api/accounts?organization_id=rival')).body.data).toEqual([])
    expect((await owner.ask('PATCH', `/ui/api/accounts/${both.accountId}`, { state: 'disabled' })).status).toBe(403)
  })

  it('get another role or state at once, and lose their sessions', async () => {
    await signedIn(gateway, { role: 'platform_admin' })
    for (const change of [{ platform_role: 'org_user' }, { state: 'disabled' }]) {
      const admin = await signedIn(gateway, { role: 'platform_admin' })
      expect((await admin.ask('GET', '/ui/api/models')).status).toBe(200)
      const { status, body } = await ask('PATCH', `/accounts/${admin.accountId}`, change)
      expect([status, body]).toMatchObject([200, change])
      expect((await admin.ask('GET', '/ui/api/models')).status).toBe(401)
      expect((await admin.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    }
  })

  it('keep their sessions where neither changes, and feel the rest at once', async () => {
    const admin = await signedIn(gateway, { role: 'platform_admin', passwordHash: 'x' })
    await ask('PATCH', `/accounts/${admin.accountId}`, { must_change_password: true, platform_role: 'platform_admin' })
    expect((await admin.ask('GET', '/auth/me')).body.standing).toBe('password_expired')
  })

  it('get another address, which is not proved, under which alone they are found; links to the former one end', async () => {
    const person = await signedIn(gateway, { email: 'Typo@exmaple.com', passwordHash: 'x' })
    const other = await signedIn(gateway)
    await ask('PATCH', `/accounts/${person.accountId}`, { email_proved: true })
    const { link } = (await ask('POST', `/accounts/${person.accountId}/reset-password`)).body
    const token = link.slice(link.indexOf('#') + 1)
    const valid = async () => (await person.ask('GET', `/auth/internal/reset-password/${token}`)).body.valid
    const change = (email: string, more = {}) => ask('PATCH', `/accounts/${person.accountId}`, { email, ...more })
    expect((await change('typo@exmaple.com')).body).toMatchObject({ email: 'typo@exmaple.com', email_proved: true })
    expect(await valid()).toBe(true)
    const taken = await change(other.email.toUpperCase())
    expect([taken.status, taken.body.error]).toMatchObject([409, { param: 'email', code: 'address_taken' }])
    expect((await change('nobody')).status).toBe(400)
    const { status, body } = await change('Right@example.com')
    expect([status, body]).toMatchObject([200, { email: 'Right@example.com', email_proved: false }])
    expect(await valid()).toBe(false)
    expect((await ask('GET', `/users/${person.userId}`)).body.user_email).toBe('Right@example.com')
    expect((await change('right@example.org', { email_proved: true })).body.email_proved).toBe(true)
    const told = async () => (await ask('GET', `/audit/events?resource_id=${person.accountId}`)).body.data
    const email = { old: 'Right@example.com', new: 'right@example.org' }
    await expect
      .poll(async () => (await told()).map(({ changes }: { changes: unknown }) => changes))
      .toContainEqual({ email, email_proved: { old: false, new: true } })
  })

  it('tell the audit what was changed', async () => {
    const person = await signedIn(gateway)
    await ask('PATCH', `/accounts/${person.accountId}`, { state: 'disabled' })
    await ask('POST', `/accounts/${person.accountId}/end-sessions`)
    const told = async () => (await ask('GET', `/audit/events?resource_id=${person.accountId}`)).body.data
    await expect.poll(told).toHaveLength(2)
    const events = await told()
    expect(events.map(({ action }: { action: string }) => action).sort()).toEqual([
      'account.end_sessions',
      'account.update',
    ])
    expect(events.find(({ action }: { action: string }) => action === 'account.update').changes).toEqual({
      state: { old: 'active', new: 'disabled' },
    })
  })

  it('are removed with their sessions, memberships and invitations, and their keys end', async () => {
    const person = await signedIn(gateway, { teams: { red: 'team_developer' } })
    const { body: key } = await ask('POST', '/keys', { team_id: 'red' })
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_key SET owner_account_id = ${person.accountId}, user_id = ${person.userId}
        WHERE key_id = ${key.key_id}`,
    )
    const { body: invited } = await ask('POST', '/invitations', { email: person.email, team_id: 'red' })
    expect((await ask('DELETE', `/accounts/${person.accountId}`)).status).toBe(200)
    expect((await ask('GET', `/accounts/${person.accountId}`)).status).toBe(404)
    const token = String(invited.invitation_url).split('#')[1]
    expect((await person.ask('GET', `/auth/invitations/${token}`)).body.valid).toBe(false)
    expect((await person.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    expect((await ask('GET', `/keys/${key.key_id}`)).body.revoked_at).not.toBeNull()
    const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key.key}` } })
    expect(models.status).toBe(401)
    // Its spend is told by the user that it names.
    expect((await ask('GET', `/users/${person.userId}`)).status).toBe(200)
    const without = await signedIn(gateway)
    await ask('DELETE', `/accounts/${without.accountId}`)
    expect((await ask('GET', `/users/${without.userId}`)).status).toBe(404)
  })

  it('cannot lose the last active administrator, whatever is tried at once', async () => {
    await rowsOf(gateway.sql, sql`UPDATE gateway_account SET platform_role = 'org_user'`)
    const admins = await Promise.all(Array.from({ length: 10 }, () => signedIn(gateway, { role: 'platform_admin' })))
    const answers = await Promise.all(
      admins.flatMap(({ accountId }) => [
        ask('PATCH', `/accounts/${accountId}`, { platform_role: 'org_user' }),
        ask('PATCH', `/accounts/${accountId}`, { state: 'disabled' }),
        ask('DELETE', `/accounts/${accountId}`),
        ask('PATCH', `/accounts/${accountId}`, { platform_role: 'org_user', state: 'disabled' }),
        ask('DELETE', `/accounts/${accountId}`),
      ]),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404, 409]))
    const left = await rowsOf(
      gateway.sql,
      sql<{ account_id: string }>`
        SELECT account_id FROM gateway_account WHERE platform_role = 'platform_admin' AND state = 'active'`,
    )
    expect(left).toHaveLength(1)
    const refused = await ask('DELETE', `/accounts/${left[0]?.account_id}`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'last_platform_admin'])
  })

  it('take no field that is not theirs', async () => {
    const person = await signedIn(gateway)
    for (const body of [
      { user_email: 'x@y.z' },
      { user_id: 'u' },
      { password_hash: 'x' },
      { state: null },
      [],
      'x',
      1,
    ]) {
      expect((await ask('PATCH', `/accounts/${person.accountId}`, body)).status, JSON.stringify(body)).toBe(400)
    }
  })
})
