import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { chatInit } from '../../../support/gateway.ts'
import { lockWaits } from '../../../support/lock-waits.ts'
import { browser, type SignedIn, signedIn } from '../../../support/people.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { type RedisServer, startRedis } from '../../../support/redis.ts'

const available = inject('postgresUrl') !== '' && inject('redisUrl') !== ''

describe.skipIf(!available)('keys that members make for themselves', () => {
  let redis: RedisServer
  let gateway: FullGateway
  let other: FullGateway
  let database: string
  const master = adminApi(() => gateway)

  beforeAll(async () => {
    redis = (await startRedis()) as RedisServer
    database = await preparedDatabase(inject('postgresUrl'))
    const settings = `
general_settings: { database_url: '${database}', redis_url: '${redis.url}' }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`
    gateway = await startFullGateway(settings)
    other = await startFullGateway(settings)
    for (const organization_id of ['acme', 'rival']) await master('POST', '/organizations', { organization_id })
    await master('POST', '/teams', { team_id: 'green', organization_id: 'rival' })
  })
  afterAll(async () => {
    await gateway?.close()
    await other?.close()
    await redis?.stop()
  })

  let made = 0
  async function team(fields: object = {}): Promise<string> {
    const team_id = `team-${++made}`
    const { status } = await master('POST', '/teams', {
      team_id,
      organization_id: 'acme',
      self_service_keys_enabled: true,
      ...fields,
    })
    expect(status).toBe(201)
    return team_id
  }
  const developer = (team_id: string, role = 'team_developer') => signedIn(gateway, { teams: { [team_id]: role } })
  const create = (who: SignedIn, body: object) => who.ask('POST', '/ui/api/keys', body)
  const calls = async (at: FullGateway, key: string) =>
    (
      await fetch(
        `${at.url}/v1/chat/completions`,
        chatInit(
          { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
          { headers: { authorization: `Bearer ${key}` } },
        ),
      )
    ).status
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

  it('belong to the one who makes them, in everything', async () => {
    const team_id = await team()
    const ann = await developer(team_id)
    const { status, body } = await create(ann, { team_id, key_name: 'laptop' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      team_id,
      organization_id: 'acme',
      owner_account_id: ann.accountId,
      user_id: ann.userId,
      key_name: 'laptop',
    })
    expect(await calls(gateway, body.key)).toBe(200)
    expect(await calls(other, body.key)).toBe(200)
    const mine = await ann.ask('GET', '/ui/api/keys?owner=me')
    expect(mine.body.data.map(({ key_id }: { key_id: string }) => key_id)).toEqual([body.key_id])
    expect((await (await developer(team_id)).ask('GET', '/ui/api/keys?owner=me')).body.data).toEqual([])
    expect((await master('GET', '/keys?owner=me')).body.data).toEqual([])
  })

  it.each([
    [{ user_id: 'somebody' }, 'user_id'],
    [{ organization_id: 'rival' }, 'organization_id'],
    [{ team_id: 'green' }, 'team_id'],
    [{ team_id: 'no-team' }, 'team_id'],
    [{ team_id: null }, 'team_id'],
    [{ owner_account_id: 'account-somebody' }, 'owner_account_id'],
    [{ spend: -1 }, 'spend'],
    [{ role: 'platform_admin' }, 'role'],
    [{ key_id: 'mine' }, 'key_id'],
    [JSON.parse('{"__proto__":{"owner_account_id":"x"},"nothing":1}'), undefined],
  ])('are refused what is not theirs to say: %j', async (fields, parameter) => {
    const team_id = await team()
    const ann = await developer(team_id)
    const { status, body } = await create(ann, { team_id, ...fields })
    expect(status).toBe(400)
    if (parameter !== undefined) expect(body.error.param).toBe(parameter)
    expect((await ann.ask('GET', '/ui/api/keys')).body.data).toEqual([])
  })

  it.each(['master_key', 'api_key', 'session'])('are not named %s, as callers without a key go by', async (key_id) => {
    const team_id = await team()
    const ann = await developer(team_id)
    const refused = { status: 400, body: { error: { param: 'key_id' } } }
    expect(await create(ann, { team_id, key_id })).toMatchObject(refused)
    expect(await master('POST', '/keys', { key_id })).toMatchObject(refused)
    // One that an earlier build made is of no use any more.
    const { body } = await create(ann, { team_id })
    await rowsOf(gateway.sql, sql`UPDATE gateway_key SET key_id = ${key_id} WHERE key_id = ${body.key_id}`)
    expect(await calls(gateway, body.key)).toBe(401)
  })

  it('are checked in the order of the team: enabled, count, budget, end, limits', async () => {
    const rules = {
      self_service_keys_enabled: false,
      self_service_max_keys_per_user: 0,
      self_service_budget_ceiling: 10,
      budget_duration: '30d',
      self_service_require_expiry: true,
      self_service_max_expiry_days: 30,
      rpm_limit: 100,
    }
    const team_id = await team(rules)
    const ann = await developer(team_id)
    const wrong = { team_id, max_budget: 11, budget_duration: '1m', expires_at: inDays(31), rpm_limit: 101 }
    const outcome = async (body: object) => {
      const answer = await create(ann, body)
      return [answer.status, answer.body.error?.code ?? answer.body.error?.param ?? 'made']
    }
    expect(await outcome(wrong)).toEqual([403, 'self_service_disabled'])
    await master('PATCH', `/teams/${team_id}`, { self_service_keys_enabled: true })
    expect(await outcome(wrong)).toEqual([403, 'self_service_key_limit'])
    await master('PATCH', `/teams/${team_id}`, { self_service_max_keys_per_user: 1 })
    expect(await outcome(wrong)).toEqual([400, 'max_budget'])
    expect(await outcome({ ...wrong, max_budget: undefined })).toEqual([400, 'max_budget'])
    expect(await outcome({ ...wrong, max_budget: null })).toEqual([400, 'max_budget'])
    expect(await outcome({ ...wrong, max_budget: 10 })).toEqual([400, 'budget_duration'])
    const dear = { ...wrong, max_budget: 10, budget_duration: '30d' }
    expect(await outcome(dear)).toEqual([400, 'expires_at'])
    expect(await outcome({ ...dear, expires_at: undefined })).toEqual([400, 'expires_at'])
    expect(await outcome({ ...dear, expires_at: undefined, duration: '31d' })).toEqual([400, 'expires_at'])
    const ending = { ...dear, expires_at: inDays(29) }
    expect(await outcome(ending)).toEqual([400, 'rpm_limit'])
    expect(await outcome({ ...ending, rpm_limit: 100 })).toEqual([201, 'made'])
    expect(await outcome({ ...ending, rpm_limit: 100 })).toEqual([403, 'self_service_key_limit'])
  })

  it('never become more than the team allows, with 50 made at once over two gateways', async () => {
    const team_id = await team({ self_service_max_keys_per_user: 7 })
    const ann = await developer(team_id)
    const elsewhere = browser(other.url, ann.token)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? ann : elsewhere).ask('POST', '/ui/api/keys', { team_id }),
      ),
    )
    const codes = answers.map(({ status, body }) => body.error?.code ?? status)
    expect(codes.filter((code) => code === 201)).toHaveLength(7)
    expect(codes.filter((code) => code === 'self_service_key_limit')).toHaveLength(43)
    const [row] = await rowsOf<{ count: number }>(
      gateway.sql,
      sql`SELECT count(*)::int AS count FROM gateway_key WHERE owner_account_id = ${ann.accountId}`,
    )
    expect(row?.count).toBe(7)
  })

  it('hold the ceiling that is lowered while they are made', async () => {
    for (let turn = 0; turn < 4; turn++) {
      const team_id = await team({ self_service_budget_ceiling: 10 })
      const ann = await developer(team_id)
      const ask = () => create(ann, { team_id, max_budget: 10 })
      const [, lowered] = await Promise.all([
        Promise.all([ask(), ask(), ask()]),
        master('PATCH', `/teams/${team_id}`, { self_service_budget_ceiling: 5 }),
        Promise.all([ask(), ask(), ask()]),
      ])
      expect(lowered.status).toBe(200)
      const late = await rowsOf(
        gateway.sql,
        sql`SELECT FROM gateway_key AS key JOIN gateway_team AS team USING (team_id)
          WHERE team_id = ${team_id} AND key.version > team.version`,
      )
      expect(late).toEqual([])
      expect((await ask()).status).toBe(400)
    }
  })

  it('are refused where the team is removed at the same moment', async () => {
    const team_id = await team()
    const ann = await developer(team_id)
    const remover = new pg.Client({ connectionString: database })
    await remover.connect()
    await remover.query(`BEGIN; DELETE FROM gateway_team WHERE team_id = '${team_id}'`)
    const made = create(ann, { team_id })
    await expect.poll(() => lockWaits(gateway.sql)).toHaveLength(1)
    await remover.query('COMMIT')
    await remover.end()
    const { status, body } = await made
    expect([status, body.error]).toMatchObject([400, { message: 'team_id: there is no such team', param: 'team_id' }])
  })

  it('one that ended or was revoked makes room for another', async () => {
    const team_id = await team({ self_service_max_keys_per_user: 1 })
    const ann = await developer(team_id)
    const { body: first } = await create(ann, { team_id })
    expect((await create(ann, { team_id })).status).toBe(403)
    expect((await ann.ask('POST', `/ui/api/keys/${first.key_id}/revoke`)).status).toBe(200)
    expect((await create(ann, { team_id, expires_at: new Date(Date.now() + 300).toISOString() })).status).toBe(201)
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect((await create(ann, { team_id })).status).toBe(201)
  })

  it("are their owner's to rename, regenerate, revoke and delete; the others of the team are not", async () => {
    const team_id = await team()
    const [ann, bob] = [await developer(team_id), await developer(team_id)]
    const { body: own } = await create(ann, { team_id })
    const path = `/ui/api/keys/${own.key_id}`
    expect((await ann.ask('PATCH', path, { key_name: 'renamed' })).body.key_name).toBe('renamed')
    for (const body of [
      { rpm_limit: 9 },
      { key_name: 'x', max_budget: 9 },
      { user_id: bob.userId },
      { metadata: {} },
    ]) {
      const refused = await ann.ask('PATCH', path, body)
      expect([refused.status, refused.body.error.code]).toEqual([403, 'missing_permission'])
    }
    expect((await ann.ask('PUT', path, { key_name: 'x' })).status).toBe(403)
    expect((await ann.ask('PUT', `${path}/model-access`, { models: [] })).status).toBe(403)

    const seen = await bob.ask('GET', path)
    expect([seen.status, seen.body.key_name]).toEqual([200, 'renamed'])
    for (const [method, end] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/regenerate'],
      ['POST', '/revoke'],
    ] as const) {
      const refused = await bob.ask(method, path + end, method === 'PATCH' ? { key_name: 'x' } : undefined)
      expect([refused.status, refused.body.error.code]).toEqual([403, 'missing_permission'])
    }
    const again = await ann.ask('POST', `${path}/regenerate`)
    expect([again.status, await calls(other, own.key), await calls(other, again.body.key)]).toEqual([200, 401, 200])

    // Another secret is only for those who may have keys of their own there now.
    const outcome = async () => {
      const { status, body } = await ann.ask('POST', `${path}/regenerate`)
      return [status, body.error?.code]
    }
    await master('PATCH', `/teams/${team_id}`, { self_service_keys_enabled: false })
    expect(await outcome()).toEqual([403, 'self_service_disabled'])
    await master('PATCH', `/teams/${team_id}`, { self_service_keys_enabled: true })
    await master('POST', `/teams/${team_id}/members`, { user_id: ann.userId, role: 'team_viewer' })
    expect(await outcome()).toEqual([403, 'missing_permission'])
    expect(await calls(other, again.body.key)).toBe(200)

    expect((await ann.ask('POST', `${path}/revoke`)).status).toBe(200)
    expect(await calls(other, again.body.key)).toBe(401)
    expect((await ann.ask('DELETE', path)).status).toBe(200)
    expect((await ann.ask('GET', path)).status).toBe(404)
  })

  it('are made by administrators too who say so, within what the team allows', async () => {
    const team_id = await team({ self_service_max_keys_per_user: 1 })
    const people = await Promise.all([
      signedIn(gateway, { role: 'platform_admin' }),
      signedIn(gateway, { organizations: { acme: 'org_owner' } }),
      signedIn(gateway, { organizations: { acme: 'org_admin' } }),
      developer(team_id, 'team_admin'),
      developer(team_id),
    ])
    for (const who of people) {
      const { status, body } = await create(who, { team_id, owner: 'me' })
      expect([status, body.owner_account_id, body.user_id]).toEqual([201, who.accountId, who.userId])
      expect((await create(who, { team_id, owner: 'me' })).body.error.code).toBe('self_service_key_limit')
      expect((await create(who, { owner: 'me' })).body.error.param).toBe('team_id')
    }
    const [admin, owner] = people
    expect((await create(admin as SignedIn, { team_id })).body).toMatchObject({ owner_account_id: null, user_id: null })
    expect((await create(owner as SignedIn, { team_id: 'green', owner: 'me' })).body.error.param).toBe('team_id')
    const viewer = await developer(team_id, 'team_viewer')
    expect((await create(viewer, { team_id, owner: 'me' })).status).toBe(403)
    const { status, body } = await master('POST', '/keys', { team_id, owner: 'me' })
    expect([status, body.error.param]).toEqual([400, 'owner'])
  })

  it('stay visible to an owner whose role shows no keys', async () => {
    const team_id = await team()
    const ann = await developer(team_id)
    const { body: own } = await create(ann, { team_id })
    await master('POST', '/keys', { team_id, key_name: 'not theirs' })
    await master('POST', `/teams/${team_id}/members`, { user_id: ann.userId, role: 'team_viewer' })
    const list = await ann.ask('GET', '/ui/api/keys')
    expect(list.body.data.map(({ key_id }: { key_id: string }) => key_id)).toEqual([own.key_id])
    const refused = await create(ann, { team_id })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'missing_permission'])
    expect((await ann.ask('POST', `/ui/api/keys/${own.key_id}/revoke`)).status).toBe(200)
  })

  it('do not work while their owner is disabled, and work again afterwards', async () => {
    const team_id = await team()
    const ann = await developer(team_id)
    const { body: own } = await create(ann, { team_id })
    expect([await calls(gateway, own.key), await calls(other, own.key)]).toEqual([200, 200])
    for (const [state, expected] of [
      ['disabled', 401],
      ['active', 200],
    ] as const) {
      expect((await master('PATCH', `/accounts/${ann.accountId}`, { state })).status).toBe(200)
      expect([await calls(gateway, own.key), await calls(other, own.key)], state).toEqual([expected, expected])
    }
  })

  it("tell their owner of their calls, and nobody's else", async () => {
    const team_id = await team()
    const [ann, bob] = [await developer(team_id), await developer(team_id)]
    const [{ body: own }, { body: theirs }] = [await create(ann, { team_id }), await create(bob, { team_id })]
    for (const { key } of [own, own, theirs]) expect(await calls(gateway, key)).toBe(200)
    await gateway.idle()
    const logged = async (who: SignedIn, query = '') => {
      const { status, body } = await who.ask('GET', `/ui/api/logs${query}`)
      expect(status).toBe(200)
      return body.data.map(({ key_id }: { key_id: string }) => key_id)
    }
    await expect.poll(() => logged(ann), { timeout: 10_000 }).toEqual([own.key_id, own.key_id])
    await expect.poll(() => logged(bob), { timeout: 10_000 }).toEqual([theirs.key_id])
    expect(await logged(ann, '?owner=me')).toEqual([own.key_id, own.key_id])
    expect(await logged(ann, `?key_id=${theirs.key_id}`)).toEqual([])
    const sums = async (who: SignedIn, path: string) => (await who.ask('GET', `/ui/api/spend/${path}`)).body
    expect((await sums(ann, 'summary')).total.calls).toBe(2)
    expect((await sums(bob, 'summary?owner=me')).total.calls).toBe(1)
    expect((await sums(ann, 'report?group_by=key')).data).toMatchObject([{ group: own.key_id, calls: 2 }])
    const auditor = await signedIn(gateway, { organizations: { acme: 'org_auditor' } })
    expect((await logged(auditor, `?team_id=${team_id}`)).length).toBe(3)
    expect(await logged(auditor, `?team_id=${team_id}&owner=me`)).toEqual([])
  })
})
