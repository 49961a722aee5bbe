import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { chatInit } from '../../../support/gateway.ts'
import { type Person, type SignedIn, signedIn } from '../../../support/people.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('memberships', () => {
  let gateway: FullGateway
  const master = adminApi(() => gateway)

  beforeAll(async () => {
    const database = await preparedDatabase(postgresUrl as string)
    gateway = await startFullGateway(`
general_settings: { database_url: '${database}' }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`)
    for (const organization_id of ['acme', 'rival']) await master('POST', '/organizations', { organization_id })
    for (const team_id of ['red', 'blue']) {
      await master('POST', '/teams', { team_id, organization_id: 'acme', self_service_keys_enabled: true })
    }
    await master('POST', '/teams', { team_id: 'green', organization_id: 'rival', self_service_keys_enabled: true })
  })
  afterAll(() => gateway?.close())

  const person = (roles: Person) => signedIn(gateway, roles)
  const ui = (who: SignedIn, method: string, path: string, body?: unknown) => who.ask(method, `/ui/api${path}`, body)
  const me = async (who: SignedIn) => (await who.ask('GET', '/auth/me')).body
  const calls = async (key: string) =>
    (
      await fetch(
        `${gateway.url}/v1/chat/completions`,
        chatInit(
          { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
          { headers: { authorization: `Bearer ${key}` } },
        ),
      )
    ).status

  it('are felt by the sessions of the member from the next request on', async () => {
    const ann = await person({ organizations: { acme: 'org_member' } })
    expect((await ui(ann, 'GET', '/teams/red')).status).toBe(200)
    expect((await ui(ann, 'GET', '/teams/red/members')).status).toBe(200)
    expect((await ui(ann, 'PATCH', '/teams/red', { rpm_limit: 5 })).status).toBe(403)
    const made = await master('POST', '/teams/red/members', { user_id: ann.userId, role: 'team_admin' })
    expect([made.status, made.body.role]).toEqual([201, 'team_admin'])
    expect((await ui(ann, 'PATCH', '/teams/red', { rpm_limit: null })).status).toBe(200)
    expect((await master('POST', '/teams/red/members', { user_id: ann.userId, role: 'team_viewer' })).status).toBe(200)
    expect((await ui(ann, 'PATCH', '/teams/red', { rpm_limit: 5 })).status).toBe(403)
    expect((await me(ann)).teams).toMatchObject([{ id: 'red', role: 'team_viewer', permissions: ['team.read'] }])
    expect((await master('DELETE', `/organizations/acme/members/${ann.userId}`)).body.left_teams).toEqual(['red'])
    expect((await ui(ann, 'GET', '/teams/red')).status).toBe(404)
    expect(await me(ann)).toMatchObject({ organizations: [], teams: [] })
  })

  it('give nobody a role above their own', async () => {
    const [owner, admin, member] = await Promise.all([
      person({ organizations: { acme: 'org_owner' } }),
      person({ organizations: { acme: 'org_admin' } }),
      person({ organizations: { acme: 'org_member' } }),
    ])
    const put = (who: SignedIn, user: SignedIn, role: string) =>
      ui(who, 'POST', '/organizations/acme/members', { user_id: user.userId, role })
    const refused = await put(admin, member, 'org_owner')
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([403, 'role_above_own', 'role'])
    expect((await put(admin, admin, 'org_owner')).status).toBe(403)
    expect((await put(admin, owner, 'org_member')).body.error.code).toBe('role_above_own')
    expect((await ui(admin, 'DELETE', `/organizations/acme/members/${owner.userId}`)).body.error.code).toBe(
      'role_above_own',
    )
    for (const role of ['org_auditor', 'org_billing', 'org_admin', 'org_member']) {
      expect((await put(admin, member, role)).status, role).toBe(200)
    }
    expect((await put(owner, admin, 'org_owner')).status).toBe(200)
    expect((await put(owner, admin, 'org_admin')).status).toBe(200)
    const roles = await rowsOf<{ user_id: string; role: string }>(
      gateway.sql,
      sql`SELECT user_id, role FROM gateway_membership WHERE scope_type = 'organization' AND scope_id = 'acme'`,
    )
    const roleOf = (who: SignedIn) => roles.find(({ user_id }) => user_id === who.userId)?.role
    expect([owner, admin, member].map(roleOf)).toEqual(['org_owner', 'org_admin', 'org_member'])
  })

  it('of an owner survive an administrator who meets the promotion', async () => {
    const [owner, admin] = await Promise.all([
      person({ organizations: { acme: 'org_owner' } }),
      person({ organizations: { acme: 'org_admin' } }),
    ])
    for (let turn = 0; turn < 5; turn++) {
      const rising = await person({ organizations: { acme: 'org_member' } })
      const to = (who: SignedIn, role: string) =>
        ui(who, 'POST', '/organizations/acme/members', { user_id: rising.userId, role })
      const [promoted, ...others] = await Promise.all([
        to(owner, 'org_owner'),
        ...Array.from({ length: 4 }, () => to(admin, 'org_member')),
      ])
      expect(promoted?.status).toBe(200)
      expect(others.every(({ status }) => status === 200 || status === 403)).toBe(true)
      expect((await me(rising)).organizations).toMatchObject([{ id: 'acme', role: 'org_owner' }])
    }
  })

  it('take nobody whom the changer does not see, in words that do not tell of them', async () => {
    const admin = await person({ organizations: { acme: 'org_admin' } })
    const stranger = await person({ teams: { green: 'team_viewer' } })
    for (const path of ['/organizations/acme/members', '/teams/red/members']) {
      const role = path.startsWith('/teams') ? 'team_viewer' : 'org_member'
      const [foreign, absent] = await Promise.all(
        [stranger.userId, 'user-nobody'].map((user_id) => ui(admin, 'POST', path, { user_id, role })),
      )
      expect([foreign?.status, foreign?.body]).toEqual([absent?.status, absent?.body])
      expect(foreign?.status).toBe(400)
    }
  })

  it('leave the limits of a user alone who is a member elsewhere too', async () => {
    const admin = await person({ organizations: { acme: 'org_admin' } })
    const [theirs, shared] = await Promise.all([
      person({ organizations: { acme: 'org_member' }, teams: { red: 'team_viewer' } }),
      person({ organizations: { acme: 'org_member' }, teams: { green: 'team_viewer' } }),
    ])
    const lead = await person({ teams: { red: 'team_admin' } })
    const limit = (who: SignedIn, user: SignedIn) => ui(who, 'PATCH', `/users/${user.userId}`, { rpm_limit: 7 })
    expect((await limit(admin, theirs)).status).toBe(200)
    expect((await limit(lead, theirs)).status).toBe(200)
    const refused = await limit(admin, shared)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'missing_permission'])
    const bound = await ui(admin, 'PUT', `/users/${shared.userId}/model-access`, { models: ['m'] })
    expect([bound.status, bound.body.error.code]).toEqual([403, 'missing_permission'])
    expect((await limit(lead, shared)).status).toBe(404)
    expect((await ui(admin, 'GET', `/users/${shared.userId}`)).status).toBe(200)
  })

  it('end with the keys that the member owns there, and only those', async () => {
    const ann = await person({ organizations: { acme: 'org_member' }, teams: { red: 'team_developer' } })
    await master('POST', '/teams/blue/members', { user_id: ann.userId, role: 'team_developer' })
    await master('POST', '/teams/green/members', { user_id: ann.userId, role: 'team_developer' })
    const own = async (team_id: string) => {
      const made = await ui(ann, 'POST', '/keys', { team_id })
      expect([made.status, made.body.owner_account_id, made.body.user_id]).toEqual([201, ann.accountId, ann.userId])
      return made.body
    }
    const [red, blue, green] = [await own('red'), await own('blue'), await own('green')]
    const build = (await master('POST', '/keys', { team_id: 'red', user_id: ann.userId })).body
    for (const { key } of [red, blue, green, build]) expect(await calls(key)).toBe(200)

    const left = await ui(ann, 'DELETE', `/teams/red/members/${ann.userId}`)
    expect([left.status, left.body.revoked_keys]).toEqual([200, [red.key_id]])
    expect(await Promise.all([red, blue, green, build].map(({ key }) => calls(key)))).toEqual([401, 200, 200, 200])
    expect((await ui(ann, 'DELETE', `/teams/red/members/${ann.userId}`)).status).toBe(404)

    expect((await master('DELETE', `/organizations/acme/members/${ann.userId}`)).body).toMatchObject({
      left_teams: ['blue'],
      revoked_keys: [blue.key_id],
    })
    expect(await Promise.all([blue, green, build].map(({ key }) => calls(key)))).toEqual([401, 200, 200])
    const { body } = await master('GET', `/keys/${red.key_id}`)
    expect(body.revoked_at).toMatch(/Z$/)
  })

  it('end without leaving a key behind that is made meanwhile', async () => {
    for (let turn = 0; turn < 5; turn++) {
      const ann = await person({ teams: { red: 'team_developer' } })
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, () => ui(ann, 'POST', '/keys', { team_id: 'red' })),
        master('DELETE', `/teams/red/members/${ann.userId}`),
        ...Array.from({ length: 4 }, () => ui(ann, 'POST', '/keys', { team_id: 'red' })),
      ])
      const keys = answers.flatMap(({ body }) => (body.key === undefined ? [] : [body.key as string]))
      expect(answers.every(({ status }) => [200, 201, 400, 403].includes(status))).toBe(true)
      expect(await Promise.all(keys.map(calls))).toEqual(keys.map(() => 401))
    }
  })
})
