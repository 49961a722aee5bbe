import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { call, post, type RpcAnswer, request } from '../../support/mcp-client.ts'
import { type NamedTools, startNamedTools } from '../../support/named-tools.node.ts'

// biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
type Rows = any[]

describe('what is told of calls at /mcp', () => {
  let far: NamedTools
  let gateway: FullGateway
  let key: { readonly key: string; readonly key_id: string }
  beforeAll(async () => {
    far = await startNamedTools()
    gateway = await startFullGateway(
      [
        'gateway_settings:',
        '  mcp_servers:',
        `    - { server_key: far, base_url: "${far.url}" }`,
        '    - { server_key: away, base_url: "http://127.0.0.1:9/mcp" }',
        `    - { server_key: slow, base_url: "${far.url}", request_timeout_ms: 300 }`,
      ].join('\n'),
    )
    await admin('POST', '/organizations', { organization_id: 'acme' })
    await admin('POST', '/teams', { team_id: 'red', organization_id: 'acme' })
    key = await admin('POST', '/keys', { team_id: 'red' })
  })
  afterAll(async () => {
    await gateway?.close()
    await far?.close()
  })

  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  async function admin(method: string, path: string, body?: unknown): Promise<any> {
    const response = await gateway.fetch(`/ui/api${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.json()
  }

  const send = (body: unknown, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) =>
    post(`${gateway.url}/mcp`, body, { authorization: `Bearer ${key.key}`, ...headers }, signal)

  async function rows(query: string, count: number): Promise<Rows> {
    const deadline = Date.now() + 15_000
    for (;;) {
      const { data } = await admin('GET', query)
      if (data.length >= count || Date.now() > deadline) return data
      await wait(20)
    }
  }
  const rowsOf = (id: string, count = 1) => rows(`/logs?request_id=${id}`, count)
  const events = (id: string, count = 1): Promise<Rows> =>
    rows('/audit/events?action=tool.call&limit=200', 0).then(async (first) => {
      const mine = (all: Rows) => all.filter(({ request_id }) => request_id === id)
      const deadline = Date.now() + 15_000
      let found = mine(first)
      while (found.length < count && Date.now() < deadline) {
        await wait(20)
        found = mine(await rows('/audit/events?action=tool.call&limit=200', 0))
      }
      return found
    })

  it.each<[string, string, object, object]>([
    ['ok', 'far__echo', { ending: 'answered', status: 200, error_type: null, model: 'far__echo' }, { result: 'ok' }],
    ['error', 'far__fails', { ending: 'answered', status: 200, model: 'far__fails' }, { result: 'error' }],
    ['failed', 'far__refuses', { ending: 'failed', error_type: 'api_error', attempts: 1 }, { result: 'failed' }],
    ['timeout', 'slow__hangs', { ending: 'failed', deployment: 'slow', attempts: 1 }, { result: 'timeout' }],
    ['away', 'away__any', { ending: 'failed', model: null, deployment: 'away', attempts: 0 }, { result: 'failed' }],
  ])('a call that ends with %s is a row without cost, and one event of the audit', async (id, tool, row, metadata) => {
    await send(call(1, tool, { words: 'canary-of-arguments' }), { 'x-request-id': `rec-${id}`, 'user-agent': 'tests' })
    const found = await rowsOf(`rec-${id}`)
    expect(found).toHaveLength(1)
    expect(found[0]?.overhead_ms).toBeGreaterThanOrEqual(0)
    expect(found[0]).toMatchObject({
      endpoint: '/mcp',
      mode: 'tool',
      requested_model: tool,
      provider: 'mcp',
      key_id: key.key_id,
      team_id: 'red',
      organization_id: 'acme',
      cost: 0,
      input_tokens: 0,
      ...row,
    })
    const told = await events(`rec-${id}`)
    expect(told).toMatchObject([
      {
        action: 'tool.call',
        resource_type: 'tool',
        resource_id: tool,
        actor_type: 'api_key',
        actor_id: key.key_id,
        organization_id: 'acme',
        user_agent: 'tests',
        status: 200,
        changes: {},
        metadata: { server: tool.split('__')[0], ...metadata },
      },
    ])
    expect(JSON.stringify([found, told])).not.toContain('canary-of-arguments')
  })

  it('what calls no tool leaves no row and no event', async () => {
    for (const body of [request(1, 'ping'), request(2, 'tools/list'), call(3, 'far__nothing'), call(4, 'nobody__x')]) {
      await send(body, { 'x-request-id': 'rec-none' })
    }
    await send(call(5, 'far__echo'), { 'x-request-id': 'rec-some' })
    expect(await events('rec-some')).toHaveLength(1)
    expect(await rowsOf('rec-some')).toHaveLength(1)
    expect([await rowsOf('rec-none', 0), await events('rec-none', 0)]).toEqual([[], []])
  })

  it('metrics count calls by server, tool and result, and no model call', async () => {
    const { key: own } = await admin('POST', '/keys', {})
    const page = async () => (await gateway.fetch('/metrics')).text()
    const count = (text: string, labels: string) =>
      Number(new RegExp(`^gateway_tool_calls_total\\{${labels}\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
    const before = await page()
    for (const name of ['far__echo', 'far__echo', 'far__fails', 'far__nothing', 'far__something']) {
      await post(`${gateway.url}/mcp`, call(1, name), { authorization: `Bearer ${own}` })
    }
    const after = await page()
    const rise = (labels: string) => count(after, labels) - count(before, labels)
    expect(rise('server="far",tool="echo",result="ok"')).toBe(2)
    expect(rise('server="far",tool="fails",result="error"')).toBe(1)
    expect(rise('server="far",tool="",result="failed"')).toBe(2)
    expect(after).not.toContain('model="far__')
    expect(after).toMatch(/^gateway_tool_call_seconds_count\{server="far"\} \d+/m)
  })

  describe('a client that leaves', () => {
    it.each([
      ['', {}],
      [' a stream', { _meta: { progressToken: 1 } }],
    ])('ends the call of the far end%s, and is told of', async (id, more) => {
      const before = far.calls('hangs').length
      const leaving = new AbortController()
      const requestId = `rec-leaves${id.trim()}`.replace(' ', '-')
      const sent = send(call('mine', 'far__hangs', {}, more), { 'x-request-id': requestId }, leaving.signal)
      const left = expect(sent).rejects.toThrow()
      await expect.poll(() => far.calls('hangs').length).toBe(before + 1)
      leaving.abort()
      await left
      await expect.poll(() => far.ended).toContain(far.calls('hangs').at(-1)?.id)
      expect(await rowsOf(requestId)).toMatchObject([{ ending: 'client_closed', status: 499, model: 'far__hangs' }])
      expect(await events(requestId)).toMatchObject([{ status: 499, metadata: { result: 'failed' } }])
    })
  })

  describe('notifications/cancelled', () => {
    const session = async () => {
      const { headers } = await send(request(0, 'initialize', { protocolVersion: '2025-11-25' }))
      return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
    }
    const cancel = (id: unknown, headers: Readonly<Record<string, string>>): Promise<RpcAnswer> =>
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }, headers)

    it('ends the call of the same client, and of no other', async () => {
      const [mine, others] = [await session(), await session()]
      const before = far.calls('hangs').length
      const call1 = send(call(1, 'far__hangs'), mine)
      const call2 = send(call(1, 'far__hangs', {}, { _meta: { progressToken: 't' } }), others)
      await expect.poll(() => far.calls('hangs').length).toBe(before + 2)
      const master = { ...mine, authorization: `Bearer ${MASTER_KEY}` }
      for (const [id, headers] of [
        [2, mine],
        ['1', mine],
        [1, {}],
        [1, master],
        [{}, mine],
      ] as const) {
        expect((await cancel(id, headers)).status).toBe(202)
      }
      const ended = far.ended.length
      expect((await cancel(1, mine)).status).toBe(202)
      expect((await call1).body).toMatchObject({ id: 1, error: { code: -32800 } })
      await expect.poll(() => far.ended.length).toBe(ended + 1)
      await wait(100)
      expect(far.ended.length).toBe(ended + 1)
      await cancel(1, others)
      expect((await call2).body).toMatchObject([{ id: 1, error: { code: -32800 } }])
    })
  })

  it('limits count each HTTP request, and each further request of a list', async () => {
    const limited = await admin('POST', '/keys', { rpm_limit: 6 })
    const sendLimited = (body: unknown) => post(`${gateway.url}/mcp`, body, { authorization: `Bearer ${limited.key}` })
    expect((await sendLimited(request(1, 'ping'))).headers.get('x-ratelimit-remaining-requests')).toBe('5')
    const list = await sendLimited([1, 2, 3, 4, 5, 6, 7].map((id) => call(id, 'far__echo', { id })))
    const answers = list.body as { readonly result?: object; readonly error?: { readonly code: number } }[]
    expect(answers.filter(({ result }) => result)).toHaveLength(5)
    expect(answers.flatMap(({ error }) => error ?? [])).toMatchObject([{ code: -32000 }, { code: -32000 }])
    const refused = await sendLimited(request(1, 'ping'))
    expect([refused.status, refused.body.id]).toEqual([429, null])
    expect(refused.body.error).toMatchObject({
      code: -32000,
      data: { code: 'key_rpm_exceeded', type: 'rate_limit_error' },
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('tokens are counted as the body is long', async () => {
    const limited = await admin('POST', '/keys', { tpm_limit: 1000 })
    const headers = { authorization: `Bearer ${limited.key}` }
    expect((await post(`${gateway.url}/mcp`, request(1, 'ping', { words: 'x'.repeat(3000) }), headers)).status).toBe(
      200,
    )
    expect((await post(`${gateway.url}/mcp`, request(1, 'ping', { words: 'x'.repeat(3000) }), headers)).status).toBe(
      429,
    )
  })
})
