import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../../support/gateway.ts'
import { call, post, request } from '../../support/mcp-client.ts'
import { type NamedTools, startNamedTools } from '../../support/named-tools.node.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { rawClient } from './support/raw-client.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

describe.skipIf(!edgeExists())('on workerd, /mcp', () => {
  let edge: Edge
  let far: NamedTools
  let worker: Workerd

  beforeAll(async () => {
    far = await startNamedTools()
    edge = await startEdge()
    const yaml = `gateway_settings: { mcp_servers: [{ server_key: far, base_url: '${far.url}' }] }`
    worker = await startWorkerd(withConfig(await workerModules(), yaml), edge.variables)
    expect((await send(request(0, 'ping'))).status).toBe(200)
  })
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
    await far?.close()
  })

  const send = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    post(`${worker.url}/mcp`, body, { authorization: `Bearer ${MASTER_KEY}`, ...headers })
  const progress = (progressToken: string | number) => ({ _meta: { progressToken } })

  it('lists, calls and tells of progress while the tool runs', async () => {
    const { result } = (await send(request(1, 'tools/list'))).body
    expect(result.tools.map(({ name }: { name: string }) => name)).toContain('far__echo')
    expect((await send(call(2, 'far__echo', { words: 'x' }))).body.result.structuredContent).toEqual({
      given: { words: 'x' },
    })
    const { headers, body } = await send(call(3, 'far__steps', {}, progress('t')))
    expect(headers.get('content-type')).toContain('text/event-stream')
    expect(body).toHaveLength(4)
    expect(body[0]).toMatchObject({ method: 'notifications/progress', params: { progressToken: 't', progress: 1 } })
  })

  it.each([
    ['', {}],
    [' a stream', progress(1)],
  ])('a client that leaves%s ends the call of the far end', async (_, more) => {
    const before = far.calls('hangs').length
    const lines = worker.output().split('"event":"tool.called"').length
    const head = [
      'POST /mcp HTTP/1.1',
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      `authorization: Bearer ${MASTER_KEY}`,
    ]
    const client = rawClient(worker.port, { head, body: JSON.stringify(call(1, 'far__hangs', {}, more)) })
    await expect.poll(() => far.calls('hangs').length).toBe(before + 1)
    client.reset()
    await expect.poll(() => far.ended).toContain(far.calls('hangs').at(-1)?.id)
    const told = () => worker.output().split('"event":"tool.called"').length
    await expect.poll(told).toBe(lines + 1)
  })

  it('a call is cancelled by a later request', async () => {
    const initialized = await send(request(0, 'initialize', { protocolVersion: '2025-11-25' }))
    const session = { 'mcp-session-id': initialized.headers.get('mcp-session-id') ?? '' }
    const before = far.calls('hangs').length
    const calls = [
      send(call('json', 'far__hangs'), session),
      send(call('events', 'far__hangs', {}, progress(1)), session),
    ]
    await expect.poll(() => far.calls('hangs').length).toBe(before + 2)
    const ended = far.ended.length
    for (const requestId of ['json', 'events']) {
      const told = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }
      expect((await send(told, session)).status).toBe(202)
    }
    const [json, events] = await Promise.all(calls)
    expect(json?.body).toMatchObject({ id: 'json', error: { code: -32800 } })
    expect(events?.body).toMatchObject([{ id: 'events', error: { code: -32800 } }])
    await expect.poll(() => far.ended.length).toBe(ended + 2)
  })

  it('200 calls at once are each answered with their own', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, id) => send(call(id, 'far__echo', { id }))))
    for (const [id, { body }] of answers.entries()) {
      expect(body).toMatchObject({ id, result: { structuredContent: { given: { id } } } })
    }
  })
})
