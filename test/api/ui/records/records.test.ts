import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../../src/lib/ids.ts'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { ledger } from '../../../../src/telemetry/ledger.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { finishedCall } from '../../../support/finished-calls.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const LIMITS = ['rpm_limit', 'tpm_limit', 'rph_limit', 'rpd_limit', 'tpd_limit']
const MONEY = ['max_budget', 'soft_budget']

const kinds = [
  { path: '/organizations', id: 'organization_id', prefix: 'org', name: 'organization_name', noun: 'organization' },
  { path: '/teams', id: 'team_id', prefix: 'team', name: 'team_name', noun: 'team' },
  { path: '/users', id: 'user_id', prefix: 'user', name: 'user_name', noun: 'user' },
  { path: '/keys', id: 'key_id', prefix: 'key', name: 'key_name', noun: 'key' },
]

describe('the records of callers', () => {
  const ask = adminApi(() => gateway)

  const gateway = withFullGateway(`
model_list:
  - { model_name: m, gateway_params: { model: echo/m }, model_info: { input_cost_per_token: 0, output_cost_per_token: 0.001 } }`)

  it('refuse the next call for what was spent before they had a budget', async () => {
    const { body: made } = await ask('POST', '/keys', {})
    const call = async () => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
      const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' }
      const answer = await gateway.fetch('/v1/chat/completions', { method: 'POST', headers, body })
      await answer.text()
      return answer.status
    }
    // The second row gathers with others while the first is written.
    expect([await call(), await call()]).toEqual([200, 200])
    await ask('PATCH', `/keys/${made.key_id}`, { max_budget: 0.0015 })
    expect(await call()).toBe(429)
  })

  describe.each(kinds)('$path', ({ path, id, prefix, name, noun }) => {
    it.each([
      ['nothing at all', undefined],
      ['an empty map', {}],
    ])('are made of %s', async (_, body) => {
      const made = await ask('POST', path, body)
      expect(made.status).toBe(201)
      expect(made.body[id]).toMatch(new RegExp(`^${prefix}-[0-9a-z]{24}$`))
      for (const field of [...LIMITS, ...MONEY, 'budget_duration', name]) expect(made.body[field], field).toBeNull()
      expect(made.body).toMatchObject({ metadata: {}, spend: 0, created_at: expect.stringMatching(/^\d{4}-.*Z$/) })
      expect(made.body).not.toHaveProperty('key_hash')
    })

    it('have spent nothing of what calls cost that began before: of a removed one of the same id, or in a period that is over', async () => {
      const named = 'a+b@c:d|e'
      const level = path === '/organizations' ? 'org' : noun
      const spend = async () => (await ask('GET', `${path}/${encodeURIComponent(named)}`)).body.spend
      const since = async () => {
        const row = sql<{ at: string }>`SELECT budget_started_at AS at FROM ${sql.table(`gateway_${noun}`)}
          WHERE ${sql.id(id)} = ${named}`
        return String((await rowsOf(gateway.sql, row))[0]?.at)
      }
      const pay = (begun: string) => {
        const charges = [{ subject: `${level}:${encodeURIComponent(named)}`, period: '', since: begun }]
        return ledger.write(gateway.sql, [finishedCall({ callId: newId('call'), costNano: 5_000_000_000, charges })])
      }
      await ask('POST', path, { [id]: named })
      const first = await since()
      await pay(first)
      expect(await spend()).toBe(5)
      await ask('DELETE', `${path}/${encodeURIComponent(named)}`)
      await pay(first)
      await ask('POST', path, { [id]: named })
      expect(await spend()).toBe(0)
      await pay(first)
      expect(await spend()).toBe(0)
      const second = await since()
      await pay(second)
      expect(await spend()).toBe(5)
      for (const budget_duration of ['1d', null])
        await ask('PATCH', `${path}/${encodeURIComponent(named)}`, { budget_duration })
      await pay(second)
      expect(await spend()).toBe(0)
    })

    it('are made of a body in which every field is null', async () => {
      const document = await (await gateway.fetch('/openapi.json')).json()
      const { requestBody } = document.paths[`/ui/api${path}`].post
      const fields = Object.keys(requestBody.content['application/json'].schema.properties)
      const made = await ask('POST', path, Object.fromEntries(fields.map((field) => [field, null])))
      expect(made).toMatchObject({ status: 201, body: { [id]: expect.stringMatching(`^${prefix}-`), metadata: {} } })
      expect(requestBody.required).toBe(false)
    })

    it.each([
      [0, 0],
      [7, 0.000_000_001],
      [7, 12.34],
      [9_007_199_254_740_991, 9_007_199],
    ])('limits of %d and budgets of $%d are accepted everywhere and shown back', async (limit, money) => {
      const fields = [...LIMITS, ...MONEY, ...(id === 'key_id' ? ['max_parallel_requests'] : [])]
      const all = (value: (field: string) => number | null) =>
        Object.fromEntries(fields.map((field) => [field, value(field)]))
      const given = all((field) => (MONEY.includes(field) ? money : limit))
      const none = all(() => null)
      const made = await ask('POST', path, given)
      expect(made.body).toMatchObject(given)
      const one = `${path}/${made.body[id]}`
      expect((await ask('GET', one)).body).toMatchObject(given)
      expect((await ask('PATCH', one, none)).body).toMatchObject(none)
      expect((await ask('PATCH', one, given)).body).toMatchObject(given)
      for (const field of fields) {
        expect((await ask('PATCH', one, { [field]: null })).body).toMatchObject({ ...given, [field]: null })
        await ask('PATCH', one, { [field]: given[field] })
      }
      expect((await ask('PATCH', one, { [name]: 'n' })).body).toMatchObject(given)
      const other = all(() => 3)
      expect((await ask('PUT', one, other)).body).toMatchObject({ ...other, [name]: null })
      expect((await ask('PUT', one, {})).body).toMatchObject(none)
      await ask('DELETE', one)
    })

    it.each([...LIMITS, ...MONEY, ...(id === 'key_id' ? ['max_parallel_requests'] : [])])(
      '%s is refused where it is no such number',
      async (field) => {
        const wrong = [-1, '5', true, [1], {}, 2 ** 53, ...(MONEY.includes(field) ? [9_007_200, 1e300] : [1.5])]
        const one = `${path}/${(await ask('POST', path, {})).body[id]}`
        for (const value of wrong) {
          for (const [method, at] of [
            ['POST', path],
            ['PATCH', one],
            ['PUT', one],
          ] as const) {
            const refused = await ask(method, at, { [field]: value })
            expect(refused, `${method} ${JSON.stringify(value)}`).toMatchObject({
              status: 400,
              body: { error: { type: 'invalid_request_error', param: field } },
            })
          }
        }
        for (const text of ['NaN', 'Infinity', '1e999']) {
          expect((await ask('POST', path, `{"${field}":${text}}`)).status).toBe(400)
        }
      },
    )

    it('have a budget with a period', async () => {
      const made = await ask('POST', path, { budget_duration: '1mo', max_budget: 5, soft_budget: 4 })
      expect(made.body).toMatchObject({ budget_duration: '1mo', max_budget: 5, soft_budget: 4 })
      for (const budget_duration of ['month', '', '0d', '-1d', 30, '1.5h']) {
        expect(await ask('POST', path, { budget_duration })).toMatchObject({
          status: 400,
          body: { error: { param: 'budget_duration' } },
        })
      }
    })

    it('are changed in the version that was read, if a change names one', async () => {
      const { [id]: key, version } = (await ask('POST', path, { rpm_limit: 1 })).body
      const one = `${path}/${key}`
      const changes = await Promise.all(
        Array.from({ length: 8 }, (_, at) => ask(at % 2 ? 'PUT' : 'PATCH', one, { rpm_limit: 2 + at, version })),
      )
      const won = changes.findIndex(({ status }) => status === 200)
      expect(changes.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
      expect(changes.find(({ status }) => status === 409)?.body.error).toMatchObject({
        code: 'version_conflict',
        param: 'version',
      })
      const present = (await ask('GET', one)).body
      expect(present).toEqual({ ...changes[won]?.body, rpm_limit: 2 + won })
      // Whoever replaces what it may call has to know that version as well.
      const access = `${one}/model-access`
      expect((await ask('GET', access)).body.version).toBe(present.version)
      expect(await ask('PUT', access, { models: ['m'], version })).toMatchObject({
        status: 409,
        body: { error: { code: 'version_conflict', param: 'version' } },
      })
      const bound = await ask('PUT', access, { models: ['m'], version: present.version })
      expect(bound).toMatchObject({ status: 200, body: { models: ['m'] } })
      expect(await ask('PATCH', one, { rpm_limit: 9, version: present.version })).toMatchObject({ status: 409 })
      expect((await ask('PATCH', one, { rpm_limit: 9, version: bound.body.version })).body.rpm_limit).toBe(9)
      expect((await ask('PATCH', one, { rpm_limit: null })).body.rpm_limit).toBeNull()
      for (const wrong of [null, '1', 1.5, -1]) {
        expect(await ask('PATCH', one, { version: wrong })).toMatchObject({
          status: 400,
          body: { error: { param: 'version' } },
        })
      }
    })

    it.each(['spend', 'created_at', 'key_hash', 'key', 'revoked_at', 'target_mode', 'admin'])(
      "the field %s is not a client's to write",
      async (field) => {
        const one = `${path}/${(await ask('POST', path, {})).body[id]}`
        for (const [method, at] of [
          ['POST', path],
          ['PATCH', one],
          ['PUT', one],
        ] as const) {
          expect(await ask(method, at, { [field]: 1 })).toMatchObject({
            status: 400,
            body: { error: { param: field } },
          })
        }
      },
    )

    it('__proto__ changes nothing', async () => {
      const one = `${path}/${(await ask('POST', path, {})).body[id]}`
      for (const [method, at] of [
        ['POST', path],
        ['PATCH', one],
        ['PUT', one],
      ] as const) {
        const answer = await ask(method, at, '{"__proto__": {"rpm_limit": 5, "spend": 3}}')
        expect(answer.status, method).toBe(400)
      }
      const kept = await ask('PATCH', one, '{"metadata": {"__proto__": {"admin": true}, "constructor": 1}}')
      expect(kept.body.metadata.admin).toBeUndefined()
    })

    it('metadata is never taken for a piece of SQL', async () => {
      const metadata = { texts: [`'{"injected":true}'::json`], values: [] }
      const made = await ask('POST', path, { metadata })
      expect(made).toMatchObject({ status: 201, body: { metadata } })
      const one = `${path}/${made.body[id]}`
      const also = { texts: ['NULL', '::json'], values: [1], more: true }
      expect(await ask('PATCH', one, { metadata: also })).toMatchObject({ status: 200, body: { metadata: also } })
    })

    it('metadata and names travel whole; what is no text is refused', async () => {
      const metadata = { 'é 😀': ["'; DROP TABLE gateway_key; --", null, { deep: [1.5, '\u0000'] }] }
      const label = `${"Robert'); DROP TABLE gateway_key; --"} é 😀 "quoted" \\`
      const made = await ask('POST', path, { [name]: label, metadata })
      expect(made.body).toMatchObject({ [name]: label, metadata })
      expect((await ask('PATCH', `${path}/${made.body[id]}`, { metadata: { a: 1 } })).body.metadata).toEqual({ a: 1 })
      expect((await ask('PATCH', `${path}/${made.body[id]}`, { metadata: null })).body.metadata).toEqual({})
      for (const text of ['\u0000', '\ud800', 'x'.repeat(257)]) {
        expect(await ask('POST', path, { [name]: text })).toMatchObject({
          status: 400,
          body: { error: { param: name } },
        })
      }
      expect(await ask('POST', path, { metadata: { a: 'x'.repeat(70_000) } })).toMatchObject({ status: 400 })
    })

    it('an unknown one is a 404 that says so', async () => {
      const odd = ['nobody', '%00', '%ff', '%ED%A0%80', "'%20OR%201=1", 'x'.repeat(8000), '..%2f..%2fkeys', '%2e%2e']
      for (const key of odd) {
        for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { rpm_limit: 1 }], ['PUT', {}]] as const) {
          const answer = await ask(method, `${path}/${key}`, body)
          expect(answer.status, `${method} ${key.slice(0, 20)}`).toBe(404)
        }
      }
      expect((await ask('GET', `${path}/nobody`)).body.error).toEqual({
        message: `There is no such ${noun}.`,
        type: 'not_found_error',
        param: id,
        code: null,
      })
    })

    it('come in pages, by id, and can be searched', async () => {
      const label = `Überseiten-${crypto.randomUUID()}`
      const made = []
      for (let index = 0; index < 5; index++) made.push((await ask('POST', path, { [name]: label })).body[id])
      const seen: string[] = []
      let cursor = ''
      do {
        const { body } = await ask(
          'GET',
          `${path}?search=${encodeURIComponent(label.toUpperCase())}&limit=2&cursor=${cursor}`,
        )
        expect(body.data.length).toBeLessThanOrEqual(2)
        seen.push(...body.data.map((record: Record<string, string>) => record[id]))
        cursor = body.next_cursor
      } while (cursor !== null)
      expect(seen).toEqual([...made].sort())
      for (const query of ['limit=0', 'limit=1000', 'limit=x', 'search=%00', `search=${'x'.repeat(300)}`]) {
        expect((await ask('GET', `${path}?${query}`)).status, query).toBe(400)
      }
      expect((await ask('GET', `${path}?search=${encodeURIComponent("%' OR '1'='1")}`)).body.data).toEqual([])
    })

    it('a body that is no map is refused', async () => {
      for (const body of ['[]', '"x"', '5', 'null', '{', '{"a":1}{}']) {
        expect((await ask('POST', path, body)).status, body).toBe(400)
      }
      const form = await gateway.fetch(`/ui/api${path}`, { method: 'POST', body: 'a=b' })
      expect(form.status).toBe(415)
    })

    it('changes that meet do not lose each other', async () => {
      const one = `${path}/${(await ask('POST', path, {})).body[id]}`
      const all = await Promise.all(LIMITS.map((field, index) => ask('PATCH', one, { [field]: index + 1 })))
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect((await ask('GET', one)).body).toMatchObject({
        rpm_limit: 1,
        tpm_limit: 2,
        rph_limit: 3,
        rpd_limit: 4,
        tpd_limit: 5,
      })
    })
  })

  describe.each(kinds)("$path, with an id of one's choice", ({ path, id }) => {
    it('keeps it, once', async () => {
      expect(await ask('POST', path, { [id]: 'mine@example.com' })).toMatchObject({
        status: 201,
        body: { [id]: 'mine@example.com' },
      })
      const taken = await ask('POST', path, { [id]: 'mine@example.com' })
      expect(taken).toMatchObject({ status: 409, body: { error: { param: id } } })
      expect(await ask('PATCH', `${path}/mine@example.com`, { [id]: 'mine@example.com' })).toMatchObject({
        status: 200,
      })
      expect(await ask('PATCH', `${path}/mine@example.com`, { [id]: 'yours' })).toMatchObject({
        status: 400,
        body: { error: { param: id } },
      })
      const both = await Promise.all([1, 2, 3].map(() => ask('POST', path, { [id]: 'at-once' })))
      expect(both.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    })

    it.each([
      "a'; DROP TABLE gateway_team; --",
      '',
      ' ',
      'a b',
      'a/b',
      '..',
      '\u0000',
      '\ud800',
      'x'.repeat(65_536),
      5,
      [],
    ])('refuses %j', async (value) => {
      expect(await ask('POST', path, { [id]: value })).toMatchObject({ status: 400, body: { error: { param: id } } })
    })
  })

  describe('what belongs together', () => {
    it('a team is in its organization, a key in both', async () => {
      await ask('POST', '/organizations', { organization_id: 'acme' })
      await ask('POST', '/organizations', { organization_id: 'other' })
      const team = await ask('POST', '/teams', { team_id: 'red', organization_id: 'acme' })
      expect(team.body).toMatchObject({ team_id: 'red', organization_id: 'acme' })
      const user = await ask('POST', '/users', { user_id: 'ann', user_email: 'ann@bücher.example', user_role: 'boss' })
      expect(user.body).toMatchObject({ user_email: 'ann@bücher.example', user_role: 'boss' })
      const key = await ask('POST', '/keys', { team_id: 'red', user_id: 'ann' })
      expect(key.body).toMatchObject({ team_id: 'red', organization_id: 'acme', user_id: 'ann' })
      const same = await ask('POST', '/keys', { team_id: 'red', organization_id: 'acme' })
      expect(same.status).toBe(201)
      expect((await ask('POST', '/keys', { organization_id: 'acme' })).body).toMatchObject({ organization_id: 'acme' })
      for (const query of ['team_id=red', 'organization_id=acme', 'user_id=ann', 'team_id=none']) {
        const { body } = await ask('GET', `/keys?${query}`)
        const count = { 'team_id=red': 2, 'organization_id=acme': 3, 'user_id=ann': 1, 'team_id=none': 0 }[query]
        expect(body.data, query).toHaveLength(count as number)
      }
      expect((await ask('GET', '/teams?organization_id=acme')).body.data).toHaveLength(1)
    })

    it.each([
      ['POST', '/teams', { organization_id: 'nobody' }, 'organization_id'],
      ['POST', '/keys', { organization_id: 'nobody' }, 'organization_id'],
      ['POST', '/keys', { team_id: 'nobody' }, 'team_id'],
      ['POST', '/keys', { user_id: 'nobody' }, 'user_id'],
      ['POST', '/keys', { team_id: 'red', user_id: 'nobody' }, 'user_id'],
      ['POST', '/keys', { team_id: 'red', organization_id: 'other' }, 'organization_id'],
      ['POST', '/keys', { team_id: '\ud800' }, 'team_id'],
      ['PATCH', '/teams/red', { organization_id: 'other' }, 'organization_id'],
      ['PUT', '/teams/red', { organization_id: 'other' }, 'organization_id'],
      ['PATCH', '/teams/red', { organization_id: null }, 'organization_id'],
      ['POST', '/organizations/acme/members', { user_id: 'nobody', role: 'org_admin' }, 'user_id'],
      ['POST', '/organizations/acme/members', { user_id: 'ann', role: 'team_admin' }, 'role'],
      ['POST', '/organizations/acme/members', { user_id: 'ann' }, 'role'],
      ['POST', '/teams/red/members', { user_id: 'ann', role: 'org_admin' }, 'role'],
      ['POST', '/teams/red/members', { role: 'team_admin' }, 'user_id'],
    ])('%s %s %j is refused by its %s', async (method, path, body, param) => {
      expect(await ask(method, path, body)).toMatchObject({ status: 400, body: { error: { param } } })
    })

    it('a key stays where it was made', async () => {
      const { data } = (await ask('GET', '/keys?user_id=ann')).body
      const path = `/keys/${data[0].key_id}`
      for (const [body, param] of [
        [{ organization_id: 'other' }, 'organization_id'],
        [{ team_id: null }, 'team_id'],
        [{ team_id: 'red', organization_id: 'other', rpm_limit: 9 }, 'organization_id'],
        [{ user_id: 'nobody' }, 'user_id'],
      ] as const) {
        expect(await ask('PATCH', path, body)).toMatchObject({ status: 400, body: { error: { param } } })
      }
      expect(await ask('PATCH', path, { team_id: 'red', organization_id: 'acme', rpm_limit: 9 })).toMatchObject({
        status: 200,
        body: { rpm_limit: 9, team_id: 'red' },
      })
      expect((await ask('PATCH', path, { user_id: null })).body).toMatchObject({ user_id: null })
      expect((await ask('PATCH', path, { user_id: 'ann' })).body).toMatchObject({ user_id: 'ann' })
    })

    it('what others need is not removed', async () => {
      expect(await ask('DELETE', '/teams/red')).toMatchObject({ status: 409, body: { error: { code: 'has_keys' } } })
      expect(await ask('DELETE', '/organizations/acme')).toMatchObject({ status: 409 })
      expect(await ask('DELETE', '/users/ann')).toMatchObject({ status: 409, body: { error: { code: 'has_keys' } } })
      expect((await ask('GET', '/teams/red')).status).toBe(200)
    })

    it('members have a role, and go with what they belong to', async () => {
      const added = await ask('POST', '/teams/red/members', { user_id: 'ann', role: 'team_admin' })
      expect(added).toMatchObject({
        status: 201,
        body: { user_id: 'ann', role: 'team_admin', user_email: 'ann@bücher.example', user_name: null },
      })
      expect(await ask('POST', '/teams/red/members', { user_id: 'ann', role: 'team_viewer' })).toMatchObject({
        status: 200,
        body: { role: 'team_viewer' },
      })
      await ask('POST', '/users', { user_id: 'bob' })
      for (const role of ['org_owner', 'org_admin', 'org_billing', 'org_auditor', 'org_member']) {
        const answer = await ask('POST', '/organizations/acme/members', { user_id: 'bob', role })
        expect(answer.body.role).toBe(role)
      }
      expect((await ask('GET', '/teams/red/members')).body).toMatchObject({
        data: [{ user_id: 'ann', role: 'team_viewer' }],
        next_cursor: null,
      })
      await ask('POST', '/teams/red/members', { user_id: 'bob', role: 'team_developer' })
      const first = (await ask('GET', '/teams/red/members?limit=1')).body
      expect(first).toMatchObject({ data: [{ user_id: 'ann' }], next_cursor: 'ann' })
      expect((await ask('GET', '/teams/red/members?limit=1&cursor=ann')).body).toMatchObject({
        data: [{ user_id: 'bob' }],
        next_cursor: null,
      })
      expect(await ask('DELETE', '/teams/red/members/ann')).toMatchObject({ status: 200, body: { user_id: 'ann' } })
      for (const user of ['ann', 'nobody', '%00']) {
        expect((await ask('DELETE', `/teams/red/members/${user}`)).status).toBe(404)
      }
      for (const method of ['GET', 'POST'] as const) {
        const body = method === 'POST' ? { user_id: 'ann', role: 'team_admin' } : undefined
        expect((await ask(method, '/teams/nobody/members', body)).status).toBe(404)
      }
      expect((await ask('DELETE', '/users/bob')).status).toBe(200)
      expect((await ask('GET', '/organizations/acme/members')).body.data).toEqual([])
      await ask('POST', '/teams', { team_id: 'brief' })
      await ask('POST', '/teams/brief/members', { user_id: 'ann', role: 'team_admin' })
      await ask('DELETE', '/teams/brief')
      await ask('POST', '/teams', { team_id: 'brief' })
      expect((await ask('GET', '/teams/brief/members')).body.data).toEqual([])
    })

    it('keys that are made while their team is removed belong to it or are refused', async () => {
      for (let turn = 0; turn < 10; turn++) {
        await ask('POST', '/teams', { team_id: 'racy' })
        const [removed, ...keys] = await Promise.all([
          ask('DELETE', '/teams/racy'),
          ...[1, 2, 3].map(() => ask('POST', '/keys', { team_id: 'racy' })),
        ])
        const made = keys.filter(({ status }) => status === 201)
        expect([201, 400]).toEqual(expect.arrayContaining([...new Set(keys.map(({ status }) => status))]))
        expect(removed?.status).toBe(made.length > 0 ? 409 : 200)
        for (const { body } of made) await ask('DELETE', `/keys/${body.key_id}`)
        await ask('DELETE', '/teams/racy')
      }
    })
  })

  describe('keys', () => {
    it('are shown once, and never their hash', async () => {
      const made = await ask('POST', '/keys', { key_name: 'first' })
      expect(made.body.key).toMatch(/^sk-[A-Za-z0-9_-]{48}$/)
      const { key, ...record } = made.body
      expect(Object.keys(record).sort()).toEqual(
        [
          ...['key_id', 'key_name', 'team_id', 'organization_id', 'user_id', 'owner_account_id', 'max_budget'],
          ...['soft_budget', 'budget_duration', 'model_max_budget', 'spend', ...LIMITS, 'max_parallel_requests'],
          ...['turn_off_message_logging', 'no_log_allowed', 'state', 'last_used_at', 'effective_limits'],
          ...['team_name', 'organization_name', 'user_name', 'owner_email'],
          ...['allowed_ips', 'expires_at', 'revoked_at', 'metadata', 'version', 'created_at', 'updated_at'],
        ].sort(),
      )
      const one = await ask('GET', `/keys/${record.key_id}`)
      expect(one.body).toEqual(record)
      expect(JSON.stringify((await ask('GET', '/keys')).body)).not.toContain(key.slice(3))
    })

    it('tell the smallest of each limit, and whose it is, the tightest first', async () => {
      const team = await ask('POST', '/teams', { rpm_limit: 60, tpd_limit: 1000 })
      const { team_id } = team.body
      const made = await ask('POST', '/keys', { team_id, rpm_limit: 100, rpd_limit: 500, tpd_limit: 0 })
      const limits = [
        { name: 'rpd_limit', limit: 500, of: 'key' },
        { name: 'rpm_limit', limit: 60, of: 'team' },
        { name: 'tpd_limit', limit: 0, of: 'key' },
      ]
      expect(made.body.effective_limits).toEqual(limits)
      const listed = await ask('GET', `/keys?team_id=${team_id}`)
      expect(listed.body.data.map((one: { effective_limits: unknown }) => one.effective_limits)).toEqual([limits])
    })

    it('take the rest of their fields', async () => {
      const body = {
        model_max_budget: { 'gpt-4o': 1.5, m: 0 },
        allowed_ips: ['10.0.0.0/8', '::1', '2001:db8::/32', '192.168.1.1'],
        turn_off_message_logging: true,
        no_log_allowed: false,
        expires_at: '2031-02-03T04:05:06+02:00',
      }
      const made = await ask('POST', '/keys', body)
      expect(made.body).toMatchObject({ ...body, expires_at: '2031-02-03T02:05:06.000Z' })
      const path = `/keys/${made.body.key_id}`
      expect((await ask('PATCH', path, { allowed_ips: [] })).body.allowed_ips).toEqual([])
      const cleared = { model_max_budget: null, allowed_ips: null, expires_at: null }
      expect((await ask('PATCH', path, cleared)).body).toMatchObject({
        model_max_budget: {},
        allowed_ips: null,
        expires_at: null,
      })
      const before = Date.now()
      const { expires_at } = (await ask('POST', '/keys', { duration: '30d' })).body
      expect(Date.parse(expires_at) - before).toBeGreaterThanOrEqual(30 * 86_400_000)
      expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(30 * 86_400_000)
    })

    it.each([
      [{ expires_at: 'tomorrow' }, 'expires_at'],
      [{ expires_at: '0000-01-01T00:00:00Z' }, 'expires_at'],
      [{ expires_at: 1_900_000_000 }, 'expires_at'],
      [{ expires_at: '2030-02-30T00:00:00Z' }, 'expires_at'],
      [{ duration: '30d', expires_at: '2030-01-01T00:00:00Z' }, 'duration'],
      [{ duration: 'x' }, 'duration'],
      [{ allowed_ips: ['10.0.0.0/33'] }, 'allowed_ips[0]'],
      [{ allowed_ips: ['localhost'] }, 'allowed_ips[0]'],
      [{ allowed_ips: '10.0.0.1' }, 'allowed_ips'],
      [{ model_max_budget: { m: -1 } }, 'model_max_budget.m'],
      [{ model_max_budget: { m: null } }, 'model_max_budget.m'],
      [{ model_max_budget: [] }, 'model_max_budget'],
      [{ max_parallel_requests: 1.5 }, 'max_parallel_requests'],
      [{ owner_account_id: 'x' }, 'owner_account_id'],
    ])('%j is refused by its %s', async (body, param) => {
      expect(await ask('POST', '/keys', body)).toMatchObject({ status: 400, body: { error: { param } } })
    })

    it('regenerated, have another text and the same id', async () => {
      const made = (await ask('POST', '/keys', { key_name: 'again', rpm_limit: 5 })).body
      const again = await ask('POST', `/keys/${made.key_id}/regenerate`)
      expect(again).toMatchObject({ status: 200, body: { key_id: made.key_id, key_name: 'again', rpm_limit: 5 } })
      expect(again.body.key).toMatch(/^sk-[A-Za-z0-9_-]{48}$/)
      expect(again.body.key).not.toBe(made.key)
      expect((await ask('POST', '/keys/nobody/regenerate')).status).toBe(404)
    })

    it('revoked, stay as records and never come back', async () => {
      const made = (await ask('POST', '/keys', {})).body
      const path = `/keys/${made.key_id}`
      const revoked = await ask('POST', `${path}/revoke`)
      expect(revoked).toMatchObject({ status: 200, body: { key_id: made.key_id, revoked_at: expect.any(String) } })
      expect((await ask('POST', `${path}/revoke`)).body.revoked_at).toBe(revoked.body.revoked_at)
      expect(await ask('POST', `${path}/regenerate`)).toMatchObject({
        status: 409,
        body: { error: { code: 'key_revoked' } },
      })
      expect((await ask('PUT', path, {})).body.revoked_at).toBe(revoked.body.revoked_at)
      expect((await ask('GET', path)).body.revoked_at).toBe(revoked.body.revoked_at)
      expect((await ask('DELETE', path)).body).toMatchObject({ key_id: made.key_id })
      expect((await ask('GET', path)).status).toBe(404)
      expect((await ask('POST', '/keys/nobody/revoke')).status).toBe(404)
    })
  })
})
