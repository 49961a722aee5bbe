import { afterAll, describe, expect, it } from 'vitest'
import { adminApi } from '../../support/admin-api.ts'
import { chatInit } from '../../support/gateway.ts'
import { call, post, type RpcAnswer, request } from '../../support/mcp-client.ts'
import { type NamedTools, startNamedTools } from '../../support/named-tools.node.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const LIMIT = 3

describe('max_parallel_requests of a key at /mcp', () => {
  let far: NamedTools
  afterAll(() => far?.close())
  const gateway = withFullGateway(async () => {
    far = await startNamedTools()
    return JSON.stringify({
      gateway_settings: { mcp_servers: [{ server_key: 'far', base_url: far.url, request_timeout_ms: 20_000 }] },
      model_list: [{ model_name: 'echo', gateway_params: { model: 'echo/echo' } }],
    })
  })
  const ask = adminApi(() => gateway)
  const limited = async () => (await ask('POST', '/keys', { max_parallel_requests: LIMIT })).body.key as string

  const send = (key: string, body: unknown, signal?: AbortSignal): Promise<RpcAnswer> =>
    post(`${gateway.url}/mcp`, body, { authorization: `Bearer ${key}` }, signal)
  const model = (key: string) =>
    fetch(
      `${gateway.url}/v1/chat/completions`,
      chatInit(
        { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] },
        { headers: { authorization: `Bearer ${key}` } },
      ),
    )
  const PROGRESS = { _meta: { progressToken: 't' } }

  /** As many calls as the key may have, which run until their client leaves. */
  async function full(key: string): Promise<() => Promise<void>> {
    const leaving = new AbortController()
    const before = far.calls('hangs').length
    const left = Array.from({ length: LIMIT }, (_, id) =>
      send(key, call(id, 'far__hangs', {}, id === 0 ? PROGRESS : {}), leaving.signal).catch(() => 'left'),
    )
    await expect.poll(() => far.calls('hangs').length).toBe(before + LIMIT)
    return async () => {
      leaving.abort()
      expect(await Promise.all(left)).toEqual(Array(LIMIT).fill('left'))
    }
  }

  it('is for calls of tools and of models together, and for nothing else; who leaves makes room', async () => {
    const key = await limited()
    const leave = await full(key)
    for (const more of [{}, PROGRESS]) {
      const refused = await send(key, call(1, 'far__echo', {}, more))
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
      expect(refused.body.error).toMatchObject({ code: -32000, data: { code: 'key_parallel_requests_exceeded' } })
    }
    expect((await model(key)).status).toBe(429)
    expect(far.calls('echo')).toEqual([])
    expect((await send(key, request(1, 'ping'))).body.result).toEqual({})
    expect((await send(key, request(1, 'tools/list'))).body.result.tools.length).toBeGreaterThan(3)

    await leave()
    await expect.poll(async () => (await send(key, call(1, 'far__echo'))).status).toBe(200)
    const leaveAgain = await full(key)
    await leaveAgain()
    await expect.poll(async () => (await model(key)).status).toBe(200)
  })

  it('is free again with the answer, however it comes, for the very next call', async () => {
    const key = (await ask('POST', '/keys', { max_parallel_requests: 1 })).body.key as string
    for (const [tool, more] of [
      ['echo', {}],
      ['echo', PROGRESS],
      ['fails', {}],
      ['refuses', {}],
      ['nothing', {}],
      ['steps', PROGRESS],
    ] as const) {
      expect((await send(key, call(1, `far__${tool}`, {}, more))).status, tool).toBe(200)
    }
    expect((await send(key, call(1, 'nobody__x'))).body.error.code).toBe(-32602)
    expect((await model(key)).status).toBe(200)
  })

  it('never lets more pass, of many at once or in a list', async () => {
    const key = await limited()
    const leave = await full(key)
    const answers = await send(
      key,
      [1, 2, 3].map((id) => call(id, 'far__echo')),
    )
    expect(answers.body).toMatchObject(
      Array(3).fill({ error: { code: -32000, data: { code: 'key_parallel_requests_exceeded' } } }),
    )
    await leave()
    await expect.poll(async () => (await send(key, call(1, 'far__echo'))).status).toBe(200)

    const before = far.calls('hangs').length
    const leaving = new AbortController()
    const statuses: (number | 'left')[] = []
    const all = Array.from({ length: 60 }, (_, id) =>
      send(key, call(id, 'far__hangs'), leaving.signal).then(
        ({ status }) => statuses.push(status),
        () => statuses.push('left'),
      ),
    )
    await expect.poll(() => statuses.length, { timeout: 10_000 }).toBe(60 - LIMIT)
    expect(far.calls('hangs').length - before).toBe(LIMIT)
    leaving.abort()
    await Promise.all(all)
    expect(statuses).toEqual([...Array(60 - LIMIT).fill(429), ...Array(LIMIT).fill('left')])
  })
})
