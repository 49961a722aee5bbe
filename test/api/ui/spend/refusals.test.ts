import { beforeAll, describe, expect, it } from 'vitest'
import { writeRefusals } from '../../../../src/stores/sql/spend/refusal-records.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { configuration, echo } from '../../../support/configuration.ts'
import { signedIn } from '../../../support/people.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

// biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
type Body = any

describe('GET /ui/api/refusals', () => {
  const gateway = withFullGateway(async () =>
    configuration({
      model_list: [echo('m', 'm', { input_cost_per_token: 1, output_cost_per_token: 1 }), echo('other', 'o')],
    }),
  )
  const api = adminApi(() => gateway)
  async function ask(query = ''): Promise<{ status: number; body: Body }> {
    const response = await gateway.fetch(`/ui/api/refusals${query}`)
    return { status: response.status, body: await response.json() }
  }
  const total = async (query: string) =>
    (await ask(`?limit=200&${query}`)).body.data.reduce((sum: number, { calls }: Body) => sum + calls, 0)

  beforeAll(async () => {
    await api('POST', '/organizations', { organization_id: 'acme', organization_name: 'Acme' })
    await api('POST', '/teams', { team_id: 'red', organization_id: 'acme', team_name: 'Red' })
  })

  async function key(fields: object): Promise<{ id: string; chat: (body?: object, key?: string) => Promise<number> }> {
    const { body } = await api('POST', '/keys', { key_name: 'a key', ...fields })
    return {
      id: body.key_id,
      async chat(more = {}, secret = body.key) {
        const response = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...more }),
        })
        await response.text()
        return response.status
      },
    }
  }

  it('counts every refusal of a known caller, by what refused it', async () => {
    const limited = await key({ team_id: 'red', rpm_limit: 2 })
    const poor = await key({ max_budget: 0 })
    const narrow = await key({ rpm_limit: 0 })
    const statuses = await Promise.all(Array.from({ length: 30 }, () => limited.chat()))
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    expect(await Promise.all(Array.from({ length: 5 }, () => poor.chat()))).toEqual([429, 429, 429, 429, 429])
    expect(await Promise.all([1, 2, 3].map(() => narrow.chat()))).toEqual([429, 429, 429])
    // Neither a stranger nor what was answered.
    expect(await limited.chat({}, 'sk-stranger-of-the-refusals')).toBe(401)
    await expect.poll(() => total(`key_id=${limited.id}`), { timeout: 10_000 }).toBe(28)
    await expect.poll(() => total(`key_id=${poor.id}`), { timeout: 10_000 }).toBe(5)
    const { data } = (await ask(`?key_id=${limited.id}`)).body
    expect(data[0]).toEqual({
      minute: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/),
      key_id: limited.id,
      key_name: 'a key',
      team_id: 'red',
      team_name: 'Red',
      organization_id: 'acme',
      organization_name: 'Acme',
      user_id: null,
      user_name: null,
      endpoint: '/v1/chat/completions',
      code: 'key_rpm_exceeded',
      scope: 'key_rpm',
      calls: expect.any(Number),
    })
    expect((await ask(`?key_id=${poor.id}`)).body.data).toMatchObject([
      { code: 'budget_exceeded', scope: 'key_budget' },
    ])
    expect(await total(`key_id=${limited.id}&scope=key_rpm&team_id=red`)).toBe(28)
    expect(await total(`key_id=${poor.id}&code=budget_exceeded`)).toBe(5)
    expect(await total(`key_id=${poor.id}&code=key_rpm_exceeded`)).toBe(0)
    expect(await total('organization_id=acme&endpoint=/v1/embeddings')).toBe(0)
  })

  it('counts unknown models and mistakes, and nothing that the client wrote', async () => {
    const known = await key({})
    expect(await known.chat({ model: 'the-secret-model' })).toBe(404)
    expect(await known.chat({ messages: 'the-secret-text' })).toBe(400)
    await expect.poll(() => total(`key_id=${known.id}`), { timeout: 10_000 }).toBe(2)
    const { data } = (await ask(`?key_id=${known.id}`)).body
    expect(data.map(({ code, scope }: Body) => [code, scope]).sort()).toEqual([
      ['invalid_request', null],
      ['model_not_found', null],
    ])
    expect(JSON.stringify(data)).not.toContain('secret')
  })

  it('is read page by page, each kind once, and within reach alone', async () => {
    const counts = Array.from({ length: 25 }, (_, index) => ({
      minute: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(index / 3))).toISOString(),
      key_id: `old-${index % 3}`,
      team_id: index % 2 === 0 ? 'red' : 'gone',
      organization_id: index % 2 === 0 ? 'acme' : 'other',
      user_id: '',
      endpoint: '/v1/embeddings',
      code: 'a "code", with\\all',
      scope: '',
      calls: index + 1,
    }))
    // Two processes have counted.
    await writeRefusals(gateway.sql, [
      { counter: 'one', counts },
      { counter: 'other', counts },
    ])
    const range = 'from=2026-01-01&to=2026-01-02'
    const seen: Body[] = []
    for (let cursor = ''; cursor !== null; ) {
      const { body } = await ask(`?${range}&limit=7&cursor=${encodeURIComponent(cursor)}`)
      seen.push(...body.data)
      cursor = body.next_cursor
    }
    expect(seen.map(({ minute, key_id, calls }) => [minute, key_id, calls])).toEqual(
      counts
        .map(({ minute, key_id, calls }) => [minute, key_id, 2 * calls])
        .sort()
        .toReversed(),
    )
    const auditor = await signedIn(gateway, { role: 'org_user', organizations: { acme: 'org_auditor' } })
    const nobody = await signedIn(gateway, { role: 'org_user', organizations: { acme: 'org_member' } })
    const sees = async ({ ask: get }: typeof auditor) =>
      ((await get('GET', `/ui/api/refusals?${range}&limit=200`)).body as Body).data.length
    expect(await sees(auditor)).toBe(13)
    expect(await sees(nobody)).toBe(0)
  })

  it.each([
    ['?cursor=abc', 'cursor'],
    ['?cursor=["2026-01-01T00:00:00.000Z"]', 'cursor'],
    ['?cursor=["never","","","","","","",""]', 'cursor'],
    ['?cursor=["2026-01-01T00:00:00.000Z","\\u0000","","","","","",""]', 'cursor'],
    ['?from=yesterday', 'from'],
    ['?limit=0', 'limit'],
    ['?scope=%00', 'scope'],
  ])('%s is a 400 that names %s', async (query, param) => {
    expect(await ask(query)).toMatchObject({ status: 400, body: { error: { param } } })
  })
})
