import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { usageOf } from '../../../../src/modes/usage.ts'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { spendLog } from '../../../../src/stores/sql/spend/spend-log.ts'
import { spendReports } from '../../../../src/stores/sql/spend/spend-reports.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import type { CallFinished } from '../../../../src/telemetry/events.ts'
import { ledger } from '../../../../src/telemetry/ledger.ts'
import { finishedCall } from '../../../support/finished-calls.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { seededRandom } from '../../../support/random.ts'

const postgresUrl = inject('postgresUrl')
const HOUR_MS = 3_600_000
const START = Date.UTC(2026, 1, 27, 20)
const HOURS = 80
const random = seededRandom(7).next
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value

/** Calls of a few days, over the end of a month, some of them without price, team or answer. */
const calls: CallFinished[] = Array.from({ length: 600 }, (_, index) => {
  const failed = random() < 0.2
  const priced = random() < 0.9
  return finishedCall({
    callId: `call_${String(index).padStart(4, '0')}`,
    requestId: `req_${index}`,
    at: new Date(START + Math.floor(random() * HOURS * HOUR_MS)).toISOString(),
    keyId: pick(['key-a', 'key-b', 'key-c']),
    teamId: pick(['', 'team-a', 'team-b']),
    organizationId: pick(['', 'org-a', 'org-b']),
    userId: pick(['', 'user-a']),
    model: pick(['big', 'small']),
    provider: pick(['openai', 'anthropic']),
    deployment: pick(['one', 'two', 'three']),
    batchId: index % 50 === 0 ? 'batch_a' : index % 51 === 0 ? 'batch_b' : '',
    tags: pick([[], ['x'], ['x', 'y'], ['=cmd()']]),
    endpoint: index % 7 === 0 ? '/v1/embeddings' : '/v1/chat/completions',
    cache: index % 11 === 0 ? 'hit' : index % 5 === 0 ? 'miss' : 'off',
    attempts: failed && index % 3 === 0 ? 0 : 1,
    errorType: failed ? (index % 2 === 0 ? 'api_error' : 'rate_limit_error') : '',
    tried: [],
    ending: failed ? pick(['failed', 'client_closed', 'truncated'] as const) : 'answered',
    status: failed ? pick([502, 200]) : 200,
    usage: usageOf({ inputTokens: Math.floor(random() * 1000), outputTokens: Math.floor(random() * 100) }),
    costNano: priced ? Math.floor(random() * 1e9) : undefined,
    totalMs: Math.floor(random() * 20_000),
    firstTokenMs: index % 3 === 0 ? undefined : Math.floor(random() * 300_000),
  })
})

// biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
type Body = any

describe.skipIf(!postgresUrl)('spend', () => {
  let gateway: FullGateway
  let sql: Sql
  beforeAll(async () => {
    const url = await preparedDatabase(postgresUrl)
    gateway = await startFullGateway(`general_settings: { database_url: '${url}' }\nmodel_list: []\n`)
    sql = nodePostgresSql({ connectionString: url })
    for (let at = 0; at < calls.length; at += 100) await ledger.write(sql, calls.slice(at, at + 100))
    for (const text of [
      "INSERT INTO gateway_organization (organization_id, organization_name) VALUES ('org-a', 'Acme')",
      "INSERT INTO gateway_team (team_id, team_name) VALUES ('team-a', 'Red')",
      "INSERT INTO gateway_key (key_id, key_hash, key_name) VALUES ('key-a', 'h', 'the first')",
    ])
      await sql.query({ sql: text, parameters: [] })
  })
  afterAll(async () => {
    await sql?.close()
    await gateway?.close()
  })

  async function ask(path: string): Promise<{ status: number; body: Body }> {
    const response = await gateway.fetch(`/ui/api${path}`)
    return { status: response.status, body: await response.json() }
  }

  const whole = `from=${new Date(START).toISOString()}&to=${new Date(START + HOURS * HOUR_MS).toISOString()}`
  const dollars = (some: readonly CallFinished[]) => some.reduce((sum, { costNano }) => sum + BigInt(costNano ?? 0), 0n)
  const sums = (some: readonly CallFinished[]) => ({
    calls: some.length,
    spend: Number(dollars(some)) / 1e9,
    failed_calls: some.filter(({ ending }) => ending === 'failed' || ending === 'truncated').length,
    unpriced_calls: some.filter(({ costNano }) => costNano === undefined).length,
    input_tokens: some.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0),
    output_tokens: some.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0),
  })

  describe('GET /ui/api/spend/report', () => {
    const groupings: Record<string, (call: CallFinished) => readonly string[]> = {
      day: ({ at }) => [at.slice(0, 10)],
      hour: ({ at }) => [`${at.slice(0, 13)}:00:00.000Z`],
      model: ({ model }) => [model],
      provider: ({ provider }) => [provider],
      deployment: ({ deployment }) => [deployment],
      user: ({ userId }) => [userId],
      team: ({ teamId }) => [teamId],
      organization: ({ organizationId }) => [organizationId],
      key: ({ keyId }) => [keyId],
      tag: ({ tags }) => tags,
    }
    const filters: [string, (call: CallFinished) => boolean][] = [
      ['', () => true],
      ['&team_id=team-a', ({ teamId }) => teamId === 'team-a'],
      ['&key_id=key-b&model=small', ({ keyId, model }) => keyId === 'key-b' && model === 'small'],
      ['&tag=x', ({ tags }) => tags.includes('x')],
      ['&not_model=small', ({ model }) => model !== 'small'],
      [
        '&key_id=key-b&not_team_id=team-a&not_deployment=one',
        (call) => call.keyId === 'key-b' && call.teamId !== 'team-a' && call.deployment !== 'one',
      ],
    ]
    const cases = Object.entries(groupings).flatMap(([by, groupsOf]) =>
      filters.map(([filter, holds]) => [by, filter, groupsOf, holds] as const),
    )
    it.each(cases)('by %s%s is what the calls add up to', async (by, filter, groupsOf, holds) => {
      const wanted = calls.filter(holds)
      const groups = [...new Set(wanted.flatMap(groupsOf))].filter(
        (group) => by !== 'tag' || !filter.includes('tag') || group === 'x',
      )
      const { status, body } = await ask(`/spend/report?group_by=${by}&${whole}${filter}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ group_by: by, next_cursor: null, from: new Date(START).toISOString() })
      const expected = groups.map((group) => ({
        group: group === '' ? null : group,
        ...sums(wanted.filter((call) => groupsOf(call).includes(group))),
      }))
      expect(body.data).toHaveLength(groups.length)
      expect(body.data).toEqual(expect.arrayContaining(expected.map((row) => expect.objectContaining(row))))
      if (by === 'day' || by === 'hour') {
        expect(body.data.map(({ group }: Body) => group)).toEqual([...groups].sort())
      } else {
        const spent = body.data.map(({ spend }: Body) => spend)
        expect(spent).toEqual([...spent].sort((a, b) => b - a))
      }
    })

    it('takes whole days from their own sums and gets the same', async () => {
      const { body } = await ask('/spend/report?group_by=model&from=2026-02-28&to=2026-03-02')
      const wanted = calls.filter(({ at }) => at >= '2026-02-28' && at < '2026-03-02')
      const spent = body.data.reduce((sum: number, { spend }: Body) => sum + spend, 0)
      expect(spent).toBeCloseTo(Number(dollars(wanted)) / 1e9, 9)
      const hourly = await ask('/spend/report?group_by=model&from=2026-02-28T00:00:00Z&to=2026-03-02T00:00:00%2B00:00')
      expect(hourly.body.data).toEqual(body.data)
    })

    it('names what has a name', async () => {
      const named = async (by: string) => (await ask(`/spend/report?group_by=${by}&${whole}`)).body.data
      expect(await named('organization')).toContainEqual(
        expect.objectContaining({ group: 'org-a', group_name: 'Acme' }),
      )
      expect(await named('team')).toContainEqual(expect.objectContaining({ group: 'team-b', group_name: null }))
      expect(await named('key')).toContainEqual(expect.objectContaining({ group: 'key-a', group_name: 'the first' }))
    })

    const pairs: [by: string, splitBy: string, filter: string, holds: (call: CallFinished) => boolean][] = [
      ['hour', 'model', '', () => true],
      ['day', 'key', '&team_id=team-a', ({ teamId }) => teamId === 'team-a'],
      ['team', 'deployment', '', () => true],
      ['model', 'day', '&tag=x', ({ tags }) => tags.includes('x')],
      ['organization', 'tag', '', () => true],
    ]
    it.each(pairs)('by %s and %s%s is what the calls add up to', async (by, splitBy, filter, holds) => {
      const of = (name: string, call: CallFinished) => (groupings[name] as (typeof groupings)[string])(call)
      const named = (value: string) => (value === '' ? null : value)
      const expected = new Map<string, CallFinished[]>()
      for (const call of calls.filter(holds)) {
        for (const group of of(by, call)) {
          for (const split of of(splitBy, call)) {
            const pair = JSON.stringify([named(group), named(split)])
            expected.set(pair, [...(expected.get(pair) ?? []), call])
          }
        }
      }
      const { status, body } = await ask(`/spend/report?group_by=${by}&split_by=${splitBy}&${whole}${filter}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ group_by: by, split_by: splitBy, next_cursor: null })
      const told = body.data.map((row: Body) => JSON.stringify([row.group, row.split]))
      expect([...told].sort()).toEqual([...expected.keys()].sort())
      for (const row of body.data) {
        expect(row.split_other).toBe(false)
        expect(row).toMatchObject(sums(expected.get(JSON.stringify([row.group, row.split])) ?? []))
      }
      // The rows of a group are beside one another, and so are the pages.
      const groups = body.data.map(({ group }: Body) => group)
      expect(groups.filter((group: Body, index: number) => group !== groups[index - 1])).toHaveLength(
        new Set(groups).size,
      )
      const paged = await ask(`/spend/report?group_by=${by}&split_by=${splitBy}&${whole}${filter}&limit=3&cursor=2`)
      expect(paged.body.data).toEqual(body.data.slice(2, 5))
    })

    it('sums up what is not among the most expensive', async () => {
      const { body } = await ask(`/spend/report?group_by=organization&split_by=deployment&split_top=1&${whole}`)
      const totals = await ask(`/spend/report?group_by=deployment&${whole}`)
      const dearest = totals.body.data[0].group
      for (const { group, split, split_other, calls: count } of body.data) {
        expect(split).toBe(split_other ? null : dearest)
        const wanted = calls.filter(
          ({ organizationId, deployment }) =>
            organizationId === (group ?? '') && (deployment === dearest) === !split_other,
        )
        expect(count).toBe(wanted.length)
      }
      expect(body.data).toHaveLength(6)
      const csv = await gateway.fetch(`/ui/api/spend/report?group_by=day&split_by=model&format=csv&${whole}`)
      expect(await csv.text()).toMatch(/^group,group_name,split,split_name,split_other,spend,/)
      for (const twice of ['group_by=team&split_by=team', 'group_by=hour&split_by=day']) {
        const refused = await ask(`/spend/report?${twice}`)
        expect([refused.status, refused.body.error.param]).toEqual([400, 'split_by'])
      }
    })

    it('tells how long answers take, to within a bucket', async () => {
      const { body } = await ask(`/spend/report?group_by=model&${whole}`)
      const exact = (values: readonly number[], share: number) =>
        [...values].sort((a, b) => a - b)[Math.ceil(share * values.length) - 1] as number
      const bounds = [0, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400]
      for (const row of body.data) {
        const answered = calls.filter(({ model, ending }) => model === row.group && ending === 'answered')
        const totals = answered.map(({ totalMs }) => totalMs)
        const firsts = answered.flatMap(({ firstTokenMs }) => firstTokenMs ?? [])
        const pairs = [
          ...([50, 95, 99] as const).map((one) => [row[`p${one}_ms`], exact(totals, one / 100)]),
          ...([50, 95, 99] as const).map((one) => [row[`first_token_p${one}_ms`], exact(firsts, one / 100)]),
        ] as [number, number][]
        for (const [told, is] of pairs) {
          const upper = bounds.find((bound) => is <= bound) ?? 102_400
          const lower = Math.max(...bounds.filter((bound) => bound < is))
          expect([told, told >= lower && told <= upper]).toEqual([told, true])
        }
      }
      const none = await ask('/spend/summary?from=2020-01-01&to=2020-01-02')
      expect(none.body.total).toMatchObject({ p50_ms: null, first_token_p99_ms: null })
    })

    it('comes in pages', async () => {
      const { body: all } = await ask(`/spend/report?group_by=hour&${whole}`)
      const rows: Body[] = []
      for (let cursor = '0'; cursor !== null; ) {
        const { body } = await ask(`/spend/report?group_by=hour&${whole}&limit=7&cursor=${cursor}`)
        rows.push(...body.data)
        cursor = body.next_cursor
      }
      expect(rows).toEqual(all.data)
    })

    it('is a file, too, in which nothing is a formula', async () => {
      const response = await gateway.fetch(`/ui/api/spend/report?group_by=tag&format=csv&${whole}`)
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      const [head, ...lines] = (await response.text()).split('\r\n')
      expect(head).toMatch(/^group,group_name,spend,saved,calls,/)
      expect(lines.filter((line) => line !== '')).toHaveLength(3)
      expect(lines.some((line) => line.startsWith("'=cmd()"))).toBe(true)
    })
  })

  it('GET /ui/api/spend/summary tells of a range and of the one before it', async () => {
    const { body } = await ask('/spend/summary?from=2026-03-01&to=2026-03-02')
    const day = (date: string) => calls.filter(({ at }) => at.startsWith(date))
    expect(body).toMatchObject({ total: sums(day('2026-03-01')), previous: sums(day('2026-02-28')) })
    expect((await ask('/spend/summary')).body).toMatchObject({ total: { average_ms: null, calls: 0 } })
    expect((await ask('/spend/summary?model=small&from=2026-03-01&to=2026-03-02')).body.total.calls).toBe(
      day('2026-03-01').filter(({ model }) => model === 'small').length,
    )
  })

  describe('GET /ui/api/logs', () => {
    const newest = [...calls].sort((a, b) => (a.at === b.at ? (a.callId < b.callId ? 1 : -1) : a.at < b.at ? 1 : -1))
    const ids = (body: Body) => body.data.map(({ call_id }: Body) => call_id)

    it('has every call once, newest first, page by page', async () => {
      const seen: string[] = []
      for (let cursor = ''; cursor !== null; ) {
        const { body } = await ask(`/logs?limit=101&cursor=${encodeURIComponent(cursor)}`)
        seen.push(...ids(body))
        cursor = body.next_cursor
      }
      expect(seen).toEqual(newest.map(({ callId }) => callId))
    })

    it('shows a call whole, in dollars', async () => {
      const call = calls.find(({ costNano, teamId }) => costNano && teamId === '') as CallFinished
      const { body } = await ask(`/logs?request_id=${call.requestId}`)
      expect(body.data).toEqual([
        expect.objectContaining({
          call_id: call.callId,
          at: call.at,
          team_id: null,
          batch_id: null,
          tags: call.tags,
          cost: (call.costNano as number) / 1e9,
          saved: 0,
          input_tokens: call.usage?.inputTokens,
          ending: call.ending,
          first_token_ms: call.firstTokenMs ?? null,
        }),
      ])
      const [itemOfBatch] = (await ask('/logs?batch_id=batch_a&limit=1')).body.data
      expect(itemOfBatch.batch_id).toBe('batch_a')
      const unpriced = calls.find(({ costNano }) => costNano === undefined) as CallFinished
      expect((await ask(`/logs?request_id=${unpriced.requestId}`)).body.data[0].cost).toBeNull()
    })

    it.each<[string, (call: CallFinished) => boolean]>([
      ['key_id=key-a', ({ keyId }) => keyId === 'key-a'],
      ['team_id=team-b&organization_id=org-a', (call) => call.teamId === 'team-b' && call.organizationId === 'org-a'],
      ['user_id=user-a', ({ userId }) => userId === 'user-a'],
      [
        'model=small&deployment=two&provider=openai',
        (call) => call.model === 'small' && call.deployment === 'two' && call.provider === 'openai',
      ],
      ['ending=client_closed', ({ ending }) => ending === 'client_closed'],
      ['ending=answered&status=200', ({ ending }) => ending === 'answered'],
      ['status=502', ({ status }) => status === 502],
      ['batch_id=batch_a', ({ batchId }) => batchId === 'batch_a'],
      ['batch_id=batch_b&tag=x', ({ batchId, tags }) => batchId === 'batch_b' && tags.includes('x')],
      ['tag=y', ({ tags }) => tags.includes('y')],
      ['from=2026-02-28&to=2026-03-01T12:00:00Z', ({ at }) => at >= '2026-02-28' && at < '2026-03-01T12'],
      ['error_type=rate_limit_error', ({ errorType }) => errorType === 'rate_limit_error'],
      ['endpoint=/v1/embeddings', ({ endpoint }) => endpoint === '/v1/embeddings'],
      [`endpoint=/v1/chat/completions&${whole}`, ({ endpoint }) => endpoint === '/v1/chat/completions'],
      ['cache=hit', ({ cache }) => cache === 'hit'],
      [`cache=miss&${whole}`, ({ cache }) => cache === 'miss'],
      [`not_key_id=key-a&not_user_id=user-a&${whole}`, (call) => call.keyId !== 'key-a' && call.userId === ''],
      [
        `not_ending=answered&not_error_type=api_error&${whole}`,
        (call) => call.ending !== 'answered' && call.errorType !== 'api_error',
      ],
      ['unpriced=true', ({ costNano }) => costNano === undefined],
      ['min_total_ms=15000.5', ({ totalMs }) => totalMs > 15_000],
      [`min_total_ms=5000&${whole}`, ({ totalMs }) => totalMs >= 5000],
      ['refused=true', ({ ending, attempts }) => ending === 'failed' && attempts === 0],
      ['failed_over=true', () => false],
      ['failed_over=true&unpriced=true&refused=true&error_type=x&cache=hit&min_total_ms=86400000', () => false],
      ['model=nobody', () => false],
    ])('%s leaves only those', async (filter, holds) => {
      const { body } = await ask(`/logs?limit=200&${filter}`)
      expect(ids(body)).toEqual(
        newest
          .filter(holds)
          .slice(0, 200)
          .map(({ callId }) => callId),
      )
    })

    it('has the names of what its ids stand for, in files as well', async () => {
      const [row] = (await ask('/logs?key_id=key-a&organization_id=org-a&team_id=team-a&limit=1')).body.data
      expect(row).toMatchObject({ key_name: 'the first', organization_name: 'Acme', team_name: 'Red' })
      const [other] = (await ask('/logs?key_id=key-b&limit=1')).body.data
      expect(other).toMatchObject({ key_name: null, user_name: null })
      const csv = await (await gateway.fetch('/ui/api/logs?key_id=key-a&format=csv&limit=1')).text()
      const [head, line] = csv.split('\r\n') as [string, string]
      expect(line.split(',')[head.split(',').indexOf('key_name')]).toBe('the first')
    })

    it('is a file, too: all of it, as CSV and as JSON lines', async () => {
      const csv = await (await gateway.fetch('/ui/api/logs?format=csv&tag==cmd()')).text()
      const tagged = newest.filter(({ tags }) => tags.includes('=cmd()'))
      const lines = csv.trimEnd().split('\r\n').slice(1)
      expect(lines.map((line) => line.split(',')[0])).toEqual(tagged.map(({ callId }) => callId))
      for (const line of lines) expect(line).toContain(",'=cmd(),")
      const jsonl = await gateway.fetch('/ui/api/logs?format=jsonl&limit=500')
      expect(jsonl.headers.get('content-disposition')).toBe('attachment; filename="logs.jsonl"')
      const rows = (await jsonl.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(rows.map(({ call_id }) => call_id)).toEqual(newest.slice(0, 500).map(({ callId }) => callId))
    })
  })

  it.each([
    ['/spend/report?group_by=colour', 'group_by'],
    ['/spend/report?from=yesterday', 'from'],
    ['/spend/report?from=2026-03-02&to=2026-03-01', 'from'],
    ['/spend/report?from=2001-01-01&to=2026-03-01', 'from'],
    ['/spend/report?limit=0', 'limit'],
    ['/spend/report?cursor=abc', 'cursor'],
    ['/spend/report?model=%00', 'model'],
    ['/spend/summary?to=99999-01-01', 'to'],
    ['/logs?cursor=abc', 'cursor'],
    ['/logs?cursor=2026-99-99T00:00:00.000Z~call_1', 'cursor'],
    ['/logs?cursor=2026-02-30T00:00:00.000Z~call_1', 'cursor'],
    ['/logs?cursor=0000-01-01T00:00:00.000Z~call_1', 'cursor'],
    ['/logs?limit=201', 'limit'],
    ['/logs?status=9999', 'status'],
    ['/logs?ending=happily', 'ending'],
    ['/logs?tag=a%00', 'tag'],
    ['/logs?format=xml', 'format'],
    ['/logs?failed_over=false', 'failed_over'],
    ['/logs?min_total_ms=-1', 'min_total_ms'],
    ['/logs?cache=cold', 'cache'],
    ['/logs?cache=off', 'from'],
    ['/logs?not_model=big', 'from'],
    ['/logs?min_total_ms=9999', 'from'],
    ['/logs?endpoint=/v1/chat/completions', 'from'],
    ['/logs?cache=miss&from=2026-01-01&to=2026-03-01', 'from'],
  ])('%s is a 400 that names %s', async (path, param) => {
    expect(await ask(path)).toMatchObject({ status: 400, body: { error: { param, type: 'invalid_request_error' } } })
  })

  it('shows a caller what is within its reach alone', async () => {
    const reach = { organizations: ['org-a'], teams: ['team-b'] }
    const visible = ({ organizationId, teamId }: CallFinished) => organizationId === 'org-a' || teamId === 'team-b'
    const log = spendLog(sql)
    const first = await log.page(reach, { limit: 90 })
    const last = first.at(-1)
    const after = last && { at: String(last.at), callId: String(last.call_id) }
    const second = await log.page(reach, { limit: 1000, after })
    const newest = calls.filter(visible).map(({ callId }) => callId)
    expect([...first, ...second].map(({ call_id }) => call_id).sort()).toEqual(newest.sort())
    const range = { from: new Date(START).toISOString(), to: new Date(START + HOURS * HOUR_MS).toISOString() }
    const { current } = await spendReports(sql).totals(reach, range, {})
    expect(Number(current.calls)).toBe(calls.filter(visible).length)
    const none = { organizations: [], teams: [] }
    expect(await log.page(none, { limit: 10 })).toEqual([])
    expect((await spendReports(sql).totals(none, range, {})).current.calls).toBe('0')
  })
})
