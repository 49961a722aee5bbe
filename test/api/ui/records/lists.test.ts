import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { budgetPeriod, readBudgetDuration } from '../../../../src/limits/budget-period.ts'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { KEY_STATES } from '../../../../src/stores/sql/records/key-records.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { signedIn } from '../../../support/people.ts'
import { seededRandom } from '../../../support/random.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const PRICED = `model_list:
  - model_name: m
    gateway_params: { model: echo/m }
    model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001 }`

describe('lists of records', () => {
  const gateway = withFullGateway(PRICED)
  const ask = adminApi(() => gateway)

  async function make(path: string, body: object = {}) {
    const made = await ask('POST', path, body)
    expect([made.status, made.body.error]).toEqual([201, undefined])
    return made.body
  }
  async function call(key: string) {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).status
  }
  /** A row once `holds` says so: the ledger follows calls by a moment. */
  async function once(path: string, holds: (body: Record<string, unknown>) => boolean) {
    for (;;) {
      const { body } = await ask('GET', path)
      if (holds(body)) return body
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const namesOf = async (query: string) =>
    (await ask('GET', `/keys?${query}`)).body.data.map((row: { key_name: string }) => row.key_name)

  beforeAll(async () => {
    await make('/organizations', { organization_id: 'acme', organization_name: 'Acme' })
    await make('/teams', { team_id: 'red', team_name: 'Red', organization_id: 'acme' })
  })

  it('tell names and counts with every row, and with one record', async () => {
    const ann = await signedIn(gateway, { teams: { red: 'team_developer' }, organizations: { acme: 'org_member' } })
    await make('/users', { user_id: 'ci', user_name: 'Build server' })
    const key = await make('/keys', { key_name: 'named', team_id: 'red', user_id: 'ci' })
    const told = { team_name: 'Red', organization_name: 'Acme', user_name: 'Build server', owner_email: null }
    expect(key).toMatchObject({ ...told, state: 'active', last_used_at: null })
    expect((await ask('GET', `/keys/${key.key_id}`)).body).toMatchObject(told)
    expect((await ask('GET', '/keys?search=named')).body.data).toMatchObject([told])
    expect((await ask('PATCH', `/keys/${key.key_id}`, { rpm_limit: 5 })).body).toMatchObject(told)
    await rowsOf(
      gateway.sql,
      sql`UPDATE gateway_key SET owner_account_id = ${ann.accountId} WHERE key_id = ${key.key_id}`,
    )
    expect((await ask('GET', `/keys/${key.key_id}`)).body).toMatchObject({ owner_email: ann.email, state: 'active' })
    await rowsOf(gateway.sql, sql`UPDATE gateway_account SET state = 'disabled' WHERE account_id = ${ann.accountId}`)
    expect((await ask('GET', `/keys/${key.key_id}`)).body.state).toBe('owner_disabled')
    expect((await ask('GET', '/keys?state=owner_disabled')).body.data).toHaveLength(1)
    const gone = await make('/keys', { team_id: 'red' })
    await ask('POST', `/keys/${gone.key_id}/revoke`)
    expect((await ask('GET', '/teams/red')).body).toMatchObject({
      organization_name: 'Acme',
      member_count: 1,
      key_count: 1,
    })
    expect((await ask('GET', '/organizations')).body.data).toMatchObject([
      { organization_id: 'acme', team_count: 1, member_count: 1, key_count: 1 },
    ])
    expect((await ask('DELETE', `/keys/${gone.key_id}`)).body).toMatchObject({ team_name: 'Red', state: 'revoked' })
  })

  it('tell of what is removed what it was: its spend and its last use, too', async () => {
    const key = await make('/keys', { max_budget: 5 })
    expect(await call(key.key)).toBe(200)
    const known = await once(`/keys/${key.key_id}`, ({ spend, last_used_at: used }) => spend !== 0 && used !== null)
    expect((await ask('DELETE', `/keys/${key.key_id}`)).body).toEqual(known)
  })

  let marks = 0
  it('go by name, age, spend or last use, page by page', async () => {
    // Another try finds other keys than the first one made.
    const mark = `o${++marks}-`
    const [a, b, c, d] = [`${mark.toUpperCase()}a`, `${mark}b`, `${mark}c`, `${mark}d`] as const
    const keys: Record<string, { key_id: string; key: string }> = {}
    for (const name of [b, a, d, c]) keys[name] = await make('/keys', { key_name: name })
    for (const [name, times] of [
      [c, 3],
      [a, 1],
      [b, 2],
    ] as const) {
      for (let time = 0; time < times; time++) expect(await call(keys[name]?.key ?? '')).toBe(200)
    }
    const recorded = (name: string, leastSpend: number) =>
      once(
        `/keys/${keys[name]?.key_id}`,
        ({ spend, last_used_at: used }) => used !== null && Number(spend) > leastSpend,
      )
    const { spend: ofOne } = await recorded(a, 0)
    expect((await recorded(b, 1.5 * ofOne)).spend).toBeCloseTo(2 * ofOne, 9)
    expect((await recorded(c, 2.5 * ofOne)).spend).toBeCloseTo(3 * ofOne, 9)
    // A minute tells uses apart.
    const use = (name: string, minutes: number) =>
      rowsOf(
        gateway.sql,
        sql`UPDATE gateway_key_use SET last_used_at = now() - make_interval(mins => ${minutes}::int)
          WHERE key_id = ${keys[name]?.key_id}`,
      )
    await use(a, 1)
    await use(b, 3)
    await use(c, 2)
    const all = async (order: string) => {
      const names: string[] = []
      let cursor = ''
      do {
        const query = new URLSearchParams({ search: mark, order, limit: '1', cursor })
        const { status, body } = await ask('GET', `/keys?${query}`)
        expect(status).toBe(200)
        names.push(...body.data.map((row: { key_name: string }) => row.key_name))
        cursor = body.next_cursor ?? ''
      } while (cursor !== '')
      return names
    }
    expect(await all('name')).toEqual([a, b, c, d])
    expect(await all('created_at')).toEqual([c, d, a, b])
    expect(await all('spend')).toEqual([c, b, a, d])
    expect(await all('last_used_at')).toEqual([a, c, b, d])
    expect((await all('id')).toSorted()).toEqual([a, b, c, d])
  })

  it('go by name behind the longest of names, whatever its characters', async () => {
    const mark = `long-${++marks}-`
    const names = ['\u0001', '"', 'ß'].map((letter) => mark + letter.repeat(256 - mark.length))
    for (const key_name of names) await make('/keys', { key_name })
    const found: string[] = []
    for (let cursor = ''; found.length < names.length; ) {
      const query = new URLSearchParams({ search: mark, order: 'name', limit: '1', cursor })
      const { status, body } = await ask('GET', `/keys?${query}`)
      expect([status, body.error]).toEqual([200, undefined])
      found.push(body.data[0].key_name)
      cursor = body.next_cursor
    }
    expect(found.toSorted()).toEqual(names.toSorted())
  })

  it.each(['/teams', '/organizations', '/users'])('%s go by name, age and spend', async (path) => {
    for (const order of ['name', 'created_at', 'spend']) {
      expect((await ask('GET', `${path}?order=${order}`)).status).toBe(200)
    }
    expect((await ask('GET', `${path}?order=last_used_at`)).body.error.param).toBe('order')
  })

  it.each(['x', '[]', '["1"]', '["x","y"]', '[1,"y"]', '["1","y","z"]', '{}'])(
    'refuse the cursor %s',
    async (cursor) => {
      const refused = await ask('GET', `/keys?order=spend&cursor=${encodeURIComponent(cursor)}`)
      expect([refused.status, refused.body.error.param]).toEqual([400, 'cursor'])
    },
  )

  it.each([
    ['created_at', `["${'9'.repeat(30)}","y"]`],
    ['last_used_at', `["${'9'.repeat(30)}","y"]`],
    ['spend', '["1","\\u0000"]'],
    ['name', '["\\ud800","y"]'],
  ])('refuse what no list by %s has told: the cursor %s', async (order, cursor) => {
    const refused = await ask('GET', `/keys?order=${order}&cursor=${encodeURIComponent(cursor)}`)
    expect([refused.status, refused.body.error.param]).toEqual([400, 'cursor'])
  })

  it('can be asked for the keys in a state, and for those that end before a time', async () => {
    await make('/keys', { key_name: 's-good' })
    const revoked = await make('/keys', { key_name: 's-revoked', max_budget: 0 })
    await ask('POST', `/keys/${revoked.key_id}/revoke`)
    await make('/keys', { key_name: 's-expired', expires_at: '2026-01-01T00:00:00Z' })
    await make('/keys', { key_name: 's-soon', expires_at: '2099-01-01T00:00:00Z' })
    await make('/keys', { key_name: 's-blocked', max_budget: 0 })
    const tight = await make('/keys', { key_name: 's-spent', budget_duration: '1mo' })
    await make('/keys', { key_name: 's-room', max_budget: 10, budget_duration: '30d' })
    expect(await call(tight.key)).toBe(200)
    await once(`/keys/${tight.key_id}`, ({ spend }) => spend !== 0)
    expect((await ask('PATCH', `/keys/${tight.key_id}`, { max_budget: 0.000_001 })).body.state).toBe('over_budget')
    const inState = async (state: string) => (await namesOf(`search=s-&state=${state}&order=name`)) as string[]
    expect(await inState('active')).toEqual(['s-good', 's-room', 's-soon'])
    expect(await inState('over_budget')).toEqual(['s-blocked', 's-spent'])
    expect(await inState('expired')).toEqual(['s-expired'])
    expect(await inState('revoked')).toEqual(['s-revoked'])
    expect(await namesOf('search=s-&ends_before=2099-01-02T00:00:00Z&order=name')).toEqual(['s-expired', 's-soon'])
    expect((await ask('GET', '/keys?state=lost')).body.error.param).toBe('state')
    for (const { key_name: name, state } of (await ask('GET', '/keys?search=s-')).body.data) {
      expect(await inState(state), name).toContain(name)
    }
  })

  it.each([
    ['limit=0', 'limit: must be at least 1'],
    ['limit=201', 'limit: must be at most 200'],
    ['limit=x', 'limit: must be a number'],
    ['search=a&search=b', 'search: must be given once'],
    ['state=activ', `state: must be one of ${KEY_STATES.join(', ')}; did you mean 'active'?`],
    ['ends_before=soon', 'ends_before: must be a time such as 2031-01-31T00:00:00Z'],
  ])('refuse %s in words', async (query, message) => {
    expect(await ask('GET', `/keys?${query}`)).toMatchObject({ status: 400, body: { error: { message } } })
  })

  it('go by what is spent in the period that is now, in the same words as the answers', async () => {
    const random = seededRandom(7)
    const durations = ['30s', '45m', '7h', '30d', '2w', '1mo', '5mo', '1y', null]
    const now = Date.now()
    const ids: string[] = []
    const renewed: string[] = []
    for (let made = 0; made < 60; made++) {
      const budget_duration = random.pick(durations)
      const { key_id } = await make('/keys', { key_name: `p-${made}`, budget_duration })
      ids.push(key_id)
      // Ends of months are where months differ.
      const begun = new Date(Date.UTC(2024, random.integer(0, 22), random.pick([1, 15, 28, 29, 30, 31]), 3, 4, 5, 678))
      const set = sql`UPDATE gateway_key SET budget_started_at = ${begun.toISOString()} WHERE key_id = ${key_id}`
      await rowsOf(gateway.sql, set)
      const duration = budget_duration === null ? undefined : readBudgetDuration(budget_duration)
      const subject = `key:${key_id}${budget_duration === null ? '' : `@${budget_duration}`}`
      // Now and then only a former period has spend.
      const at = duration && random.next() < 0.3 ? budgetPeriod(duration, begun.getTime(), now).begins - 1 : now
      const period = duration ? new Date(budgetPeriod(duration, begun.getTime(), at).begins).toISOString() : ''
      const spent = (1 + made) * 1_000_000_000
      await rowsOf(
        gateway.sql,
        sql`INSERT INTO gateway_budget (subject, period, spent_nano) VALUES (${subject}, ${period}, ${spent})`,
      )
      // A duration that a budget had before begins a new period when it is set again.
      if (made % 6 > 0) continue
      renewed.push(key_id)
      for (const one of ['3w', budget_duration]) await ask('PATCH', `/keys/${key_id}`, { budget_duration: one })
    }
    const { data } = (await ask('GET', '/keys?search=p-&order=spend&limit=200')).body
    const spends = data.map((row: { spend: number }) => row.spend)
    expect(data).toHaveLength(ids.length)
    expect(spends).toEqual(spends.toSorted((one: number, other: number) => other - one))
    expect(new Set(spends).size).toBeGreaterThan(20)
    expect(spends).toContain(0)
    const spendOf = (id: string) => data.find((row: { key_id: string }) => row.key_id === id).spend
    expect(renewed.map(spendOf)).toEqual(renewed.map(() => 0))
  })
})
