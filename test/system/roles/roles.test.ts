import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { ui } from '../../../src/api/ui/index.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { withFullGateway } from '../../support/with-gateway.ts'
import { readMatrix } from './matrix.ts'
import { REQUESTS } from './requests.ts'
import { CALLERS, type CallerName, FOREIGN, SIBLING, type World, world } from './world.ts'

const postgresUrl = inject('postgresUrl')
const rows = readMatrix(readFileSync(new URL('matrix.txt', import.meta.url), 'utf8'))
const routes = ui.map(({ contract: { method, path } }) => `${method.toUpperCase()} ${path}`)

interface Grant {
  readonly role: string
  readonly permissions: readonly string[]
}

const namesIn = (text: string) => text.split(' ').filter(Boolean) as CallerName[]

describe('the matrix of roles', () => {
  it('has a row for every case of every route of the administration', () => {
    const wanted = Object.entries(REQUESTS).flatMap(([route, cases]) =>
      Object.keys(cases).map((name) => `${route}: ${name}`),
    )
    expect(rows.map(({ route, name }) => `${route}: ${name}`)).toEqual(wanted)
    expect(Object.keys(REQUESTS).toSorted()).toEqual(routes.toSorted())
  })
})

describe.skipIf(!postgresUrl)('what each role gets', () => {
  const gateway = withFullGateway(async () => {
    return `
general_settings:
  max_failed_authentications: 0
  embeddings_batch_enabled: true
  batch_max_active: 1000
  database_url: '${await preparedDatabase(postgresUrl as string)}'
  email_provider: log
  email_from: gateway@example.com
  email_base_url: http://localhost
gateway_settings:
  success_callback: [webhook]
  callback_settings:
    webhook: { url: 'http://127.0.0.1:1', secret: whsec_bm9ib2R5LWlzLXRoZXJlLXRvLXJlYWQtdGhpcw== }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`
  })
  let acme: World

  beforeAll(async () => {
    acme = await world(gateway)
    await acme.make('POST', '/models', {
      model_name: 'kept',
      deployment_id: 'kept',
      gateway_params: { model: 'echo/kept' },
    })
    await acme.make('POST', '/mcp-servers', {
      server_key: 'tools',
      base_url: 'http://127.0.0.1:1/mcp',
      allow_private: true,
    })
    const messages = [{ role: 'system', content: 'Be kind.' }]
    await acme.make('POST', '/prompts', { key: 'kept', labels: ['live'], messages })
    await acme.make('POST', '/prompts/kept/versions', { messages })
    await acme.make('POST', '/route-groups', { name: 'pool', members: [{ deployment_id: 'kept' }] })
  })

  async function answerTo(route: string, name: string, caller: CallerName, expected: number) {
    const [method, path] = route.split(' ') as [string, string]
    const request = REQUESTS[route]?.[name]
    if (!request) throw new Error(`no request of ${route} is called ${name}`)
    const { ids = {}, query = '', body, as } = await request({ world: acme, caller, succeeds: expected < 300 })
    const address = path.replace('/ui/api', '').replace(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'missing')
    return acme.ask(caller, method, address + query, body, as)
  }

  it.each(routes)('%s', async (route) => {
    for (const { name, statuses } of rows.filter((row) => row.route === route)) {
      const answers = await Promise.all(
        CALLERS.map(async (caller) => {
          const expected = statuses[caller]
          return expected === undefined ? undefined : answerTo(route, name, caller, expected)
        }),
      )
      const got = Object.fromEntries(CALLERS.map((caller, index) => [caller, answers[index]?.status]))
      expect(got, name).toEqual(statuses)
      for (const [index, caller] of CALLERS.entries()) {
        const told = JSON.stringify(answers[index]?.body ?? {})
        if (caller === 'master' || caller === 'admin') continue
        expect(told, `${name}, for ${caller}`).not.toContain(FOREIGN)
        if (index >= CALLERS.indexOf('teamadmin')) expect(told, `${name}, for ${caller}`).not.toContain(SIBLING)
      }
    }
  })

  it.each([
    ['teams', 'team_id', 'owner orgadmin billing auditor member', 'teamadmin developer viewer', ''],
    ['keys', 'key_id', 'owner orgadmin billing auditor', 'teamadmin developer', 'member viewer'],
    ['users', 'user_id', 'owner orgadmin auditor', 'teamadmin developer', ''],
    ['accounts', 'account_id', 'owner orgadmin auditor', 'teamadmin developer', ''],
    [
      'callable-target-bindings',
      'binding_id',
      'owner orgadmin billing auditor member',
      'teamadmin developer viewer',
      '',
    ],
  ] as const)('lists of %s hold what one sees, and nothing else', async (path, id, ofAll, ofTeam, ofSelf) => {
    const { own, sibling, foreign } = acme.ids
    const known = [own, sibling, foreign].map((ids) => ids[id] as string)
    const seen = async (caller: CallerName) => {
      const { body } = await acme.ask(caller, 'GET', `/${path}?limit=200`, undefined)
      const ids: string[] = body.data.map((row: Record<string, string>) => row[id])
      const owners = new Set(body.data.map(({ owner_account_id: owner }: Record<string, string>) => owner))
      return { known: known.filter((one) => ids.includes(one)), owners }
    }
    for (const caller of ['master', 'admin'] as const) expect((await seen(caller)).known, caller).toEqual(known)
    for (const caller of namesIn(ofAll)) expect((await seen(caller)).known, caller).toEqual(known.slice(0, 2))
    for (const caller of namesIn(ofTeam)) expect((await seen(caller)).known, caller).toEqual(known.slice(0, 1))
    for (const caller of namesIn(ofSelf)) {
      expect(await seen(caller), caller).toEqual({ known: [], owners: new Set([acme.self(caller).account_id]) })
    }
  })

  it('the list of roles says of each what its holder is told', async () => {
    const { data } = (await acme.ask('admin', 'GET', '/roles', undefined)).body
    const holders = namesIn('owner orgadmin billing auditor member teamadmin developer viewer')
    const told = holders.map(async (holder) => {
      const { organizations, teams, pages } = (await (await acme.another(holder)).ask('GET', '/auth/me')).body
      const held = organizations.map(({ role, permissions }: Grant) => ({ role, scope: 'organization', permissions }))
      const inTeams = teams.map(({ role, permissions }: Grant) => ({ role, scope: 'team', permissions }))
      return [...held, ...inTeams].map((one) => ({ ...one, pages }))
    })
    expect(data).toEqual((await Promise.all(told)).flat())
  })

  it.each([
    ['organizations', 'organization_id'],
    ['teams', 'team_id'],
    ['users', 'user_id'],
    ['keys', 'key_id'],
  ])('%s take nothing that is not theirs to change', async (path, id) => {
    const { own, foreign } = acme.ids
    const record = `/${path}/${own[id]}`
    const before = (await acme.ask('owner', 'GET', record, undefined)).body
    const more = [
      ...Object.entries({ ...foreign, role: 'org_owner', platform_role: 'platform_admin', spend: -1 }),
      ...Object.entries({ key_hash: 'x', owner_account_id: own.account_id, revoked_at: null, target_mode: 'inherit' }),
      ...['created_at', 'budget_started_at'].map((name) => [name, '2000-01-01T00:00:00Z']),
    ] as [string, unknown][]
    for (const [name, value] of more) {
      for (const method of ['PATCH', 'PUT']) {
        const { status } = await acme.ask('owner', method, record, { rpm_limit: 5, [name]: value })
        expect(status, `${method} ${name}`).toBe(400)
      }
      const { status } = await acme.ask('owner', 'POST', `/${path}`, { [name]: value })
      if (name !== 'organization_id') expect([400, 403], `POST ${name}`).toContain(status)
    }
    const hidden = JSON.parse('{"__proto__":{"rpm_limit":5,"owner_account_id":"x"},"constructor":{"rpm_limit":5}}')
    expect((await acme.ask('owner', 'PATCH', record, hidden)).status).toBe(400)
    expect((await acme.ask('owner', 'GET', record, undefined)).body).toEqual(before)
  })

  it('a session calls no model, whatever its role', async () => {
    for (const caller of CALLERS.slice(1, 10)) {
      const { accountId, ask } = await acme.another(caller)
      const answer = await ask('GET', '/v1/models')
      expect([answer.status, answer.body.error.code], `${caller} ${accountId}`).toEqual([401, 'missing_api_key'])
    }
  })

  it('words do not tell what is foreign from what is absent', async () => {
    for (const route of routes) {
      const cases = rows.filter((row) => row.route === route)
      const [foreign, absent] = ['foreign', 'absent'].map((name) => cases.find((row) => row.name === name))
      if (!foreign || !absent) continue
      for (const caller of CALLERS.slice(2)) {
        const [here, there] = [foreign.statuses[caller] as number, absent.statuses[caller] as number]
        const answers = await Promise.all([
          answerTo(route, 'foreign', caller, here),
          answerTo(route, 'absent', caller, there),
        ])
        const told = answers.map((answer) => [answer.status, answer.body])
        expect(told[0], `${route}, for ${caller}`).toEqual(told[1])
      }
    }
  })
})
