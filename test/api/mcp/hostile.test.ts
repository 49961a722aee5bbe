import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { call, post, type RpcAnswer, request } from '../../support/mcp-client.ts'
import { type NamedTools, startNamedTools } from '../../support/named-tools.node.ts'

describe('hostile clients of /mcp', () => {
  let far: NamedTools
  let secret: NamedTools
  let gateway: FullGateway
  const keys = new Map<string, string>()

  beforeAll(async () => {
    far = await startNamedTools()
    secret = await startNamedTools(['payroll'])
    gateway = await startFullGateway(
      [
        'gateway_settings:',
        '  mcp_servers:',
        `    - { server_key: far, base_url: "${far.url}" }`,
        `    - { server_key: secret, base_url: "${secret.url}" }`,
      ].join('\n'),
    )
    for (const team of ['red', 'blue']) {
      await admin('/teams', { team_id: team })
      keys.set(team, (await admin('/keys', { team_id: team })).key)
    }
    const bound = { callable_kind: 'mcp_server', scope_type: 'team' }
    for (const callable_key of ['far', 'secret']) {
      await admin('/callable-target-bindings', { ...bound, scope_id: 'blue', callable_key })
    }
    await admin('/callable-target-bindings', { ...bound, scope_id: 'red', callable_key: 'far' })
  })
  afterAll(async () => {
    await gateway?.close()
    await far?.close()
    await secret?.close()
  })

  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  async function admin(path: string, body: unknown): Promise<any> {
    const response = await gateway.fetch(`/ui/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(201)
    return response.json()
  }

  const send = (body: unknown, key = MASTER_KEY, headers = {}, signal?: AbortSignal): Promise<RpcAnswer> =>
    post(`${gateway.url}/mcp`, body, { authorization: `Bearer ${key}`, ...headers }, signal)
  const as = (team: string, body: unknown) => send(body, keys.get(team), { 'x-request-id': 'the-same' })

  describe("another tenant's server", () => {
    it('is used by whom it is bound to', async () => {
      expect((await as('blue', call(1, 'secret__payroll'))).body.result.content[0].text).toBe('payroll')
    })

    it('is answered as what does not exist, to the byte, and not asked', async () => {
      const asked = secret.messages.length
      for (const tool of ['payroll', 'echo', 'nothing', '']) {
        const [theirs, nobodys] = await Promise.all([
          as('red', call(1, `secret__${tool}`)),
          as('red', call(1, `nobody__${tool}`)),
        ])
        expect(JSON.stringify(theirs.body).replaceAll('secret', 'nobody')).toBe(JSON.stringify(nobodys.body))
        expect(theirs.status).toBe(nobodys.status)
        const names = ({ headers }: RpcAnswer) => [...headers.keys()].sort()
        expect(names(theirs)).toEqual(names(nobodys))
      }
      const { result } = (await as('red', request(1, 'tools/list'))).body
      expect(JSON.stringify(result)).not.toContain('secret')
      expect(result.tools.length).toBeGreaterThan(0)
      // Nor by a cursor that points there.
      const after = await as('red', request(1, 'tools/list', { cursor: 'secret__' }))
      expect(after.body.result).toEqual({ tools: [] })
      expect(secret.messages.length).toBe(asked)
    })

    it('until it is bound, and no longer than that, from the next request', async () => {
      const binding = { scope_type: 'team', scope_id: 'red', callable_kind: 'mcp_server', callable_key: 'secret' }
      const { binding_id: id } = await admin('/callable-target-bindings', binding)
      expect((await as('red', call(1, 'secret__payroll'))).body.result.isError).toBe(false)
      await gateway.fetch(`/ui/api/callable-target-bindings/${id}`, { method: 'DELETE' })
      expect((await as('red', call(1, 'secret__payroll'))).body.error.code).toBe(-32602)
    })
  })

  it('200 calls at once are each answered with their own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, id) =>
        id % 4 === 0
          ? send(call(id, 'far__steps', {}, { _meta: { progressToken: id } }))
          : send(call(id, 'far__echo', { id, words: 'x'.repeat(id * 10) })),
      ),
    )
    for (const [id, { status, body }] of answers.entries()) {
      expect(status).toBe(200)
      if (id % 4 === 0) {
        expect(
          body.slice(0, -1).every(({ params }: { params: object }) => Reflect.get(params, 'progressToken') === id),
        ).toBe(true)
        expect(body).toHaveLength(4)
        expect(body.at(-1)).toMatchObject({ id, result: { isError: false } })
      } else expect(body).toMatchObject({ id, result: { structuredContent: { given: { id } } } })
    }
  })

  it('a hundred who leave in the middle end a hundred calls, and nothing of the rest', async () => {
    const before = far.ended.length
    const leaving = new AbortController()
    const left = Array.from({ length: 100 }, (_, id) =>
      send(call(id, 'far__hangs', {}, id % 2 ? { _meta: { progressToken: id } } : {}), MASTER_KEY, {}, leaving.signal),
    )
    const all = Promise.allSettled(left)
    await expect.poll(() => far.calls('hangs').length, { timeout: 10_000 }).toBe(100)
    leaving.abort()
    expect((await all).every(({ status }) => status === 'rejected')).toBe(true)
    await expect.poll(() => far.ended.length, { timeout: 10_000 }).toBe(before + 100)
    expect((await send(call(1, 'far__echo'))).body.result.isError).toBe(false)
  })

  describe('whatever is sent', () => {
    const METHODS = [
      'ping',
      'initialize',
      'tools/list',
      'tools/call',
      'notifications/cancelled',
      '__proto__',
      'toString',
    ]
    const anyJson = fc.jsonValue({ maxDepth: 4 })
    const message = fc.record(
      {
        jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant('2.0') }, anyJson),
        id: fc.oneof(fc.integer(), fc.string(), anyJson),
        method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...METHODS) }, fc.string(), anyJson),
        params: fc.oneof(
          anyJson,
          fc.record(
            {
              name: fc.oneof(fc.constantFrom('far__echo', 'far__fails', 'far____proto__'), fc.string(), anyJson),
              arguments: anyJson,
              cursor: anyJson,
              protocolVersion: anyJson,
              requestId: anyJson,
              _meta: fc.oneof(anyJson, fc.record({ progressToken: anyJson })),
            },
            { requiredKeys: [] },
          ),
        ),
        result: anyJson,
      },
      { requiredKeys: [] },
    )

    it('is answered in the shape of JSON-RPC, and never with 500', async () => {
      await fc.assert(
        fc.asyncProperty(fc.oneof(message, fc.array(message, { maxLength: 4 }), anyJson), async (body) => {
          const { status, body: answer } = await send(JSON.stringify(body))
          expect([200, 202, 400]).toContain(status)
          if (status === 202) {
            expect(answer).toBeUndefined()
            return
          }
          for (const one of Array.isArray(answer) ? answer : [answer]) {
            expect(one.jsonrpc).toBe('2.0')
            expect(
              'result' in one || Number.isInteger(one.error?.code) || one.method === 'notifications/progress',
            ).toBe(true)
          }
        }),
        { numRuns: 500 },
      )
    }, 60_000)

    it('as bytes', async () => {
      const bytes = (text: string) => Buffer.from(text, 'latin1').toString('latin1')
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }).map(bytes), async (body) => {
          const { status, body: answer } = await send(body === '' ? ' ' : body)
          expect([200, 202, 400]).toContain(status)
          if (status === 400) expect(answer.error.code).toBeLessThan(0)
        }),
        { numRuns: 200 },
      )
    }, 60_000)
  })
})
