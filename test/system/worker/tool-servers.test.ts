import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EverythingServer, startEverythingServer } from '../../support/everything-server.node.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { JSON_AND_EVENTS, call as rpc } from '../../support/mcp-client.ts'
import { type ScriptedToolServer, startScriptedToolServer } from '../../support/scripted-tool-server.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

describe.skipIf(!edgeExists())('on workerd, servers of tools', () => {
  let edge: Edge
  let worker: Workerd
  let everything: EverythingServer
  let scripted: ScriptedToolServer

  beforeAll(async () => {
    everything = await startEverythingServer()
    scripted = await startScriptedToolServer()
    edge = await startEdge()
    const servers = ['plain', 'flood', 'bomb', 'endless-stream', 'redirect', 'forgetful', 'huge-list'].map(
      (key) => `{ server_key: ${key}, base_url: '${scripted.url(key)}', request_timeout_ms: 5000 }`,
    )
    const yaml = `
general_settings: { log_level: debug }
gateway_settings:
  mcp_servers: [{ server_key: every, base_url: '${everything.url}' }, ${servers.join(', ')}]
`
    worker = await startWorkerd(withConfig(await workerModules(), yaml), edge.variables)
  })
  afterAll(async () => {
    await worker?.stop()
    await Promise.all([edge?.close(), everything?.close(), scripted?.close()])
  })

  const ask = (path: string, init: RequestInit) =>
    fetch(worker.url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${MASTER_KEY}` } })
  async function check(key: string) {
    const response = await ask(`/ui/api/mcp-servers/${key}/check`, { method: 'POST' })
    expect(response.status).toBe(200)
    // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
    return (await response.json()) as any
  }
  /** A call of a tool through the gateway's own MCP endpoint. */
  async function call(name: string, args: object) {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const init = chatInit(message)
    const headers = { ...(init.headers as Record<string, string>), accept: 'application/json, text/event-stream' }
    const response = await ask('/mcp', { ...init, headers })
    // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
    return (await response.json()) as any
  }

  it('are connected to, and list their tools', async () => {
    const { ok, protocol_version, tools } = await check('every')
    expect([ok, protocol_version]).toEqual([true, '2025-11-25'])
    expect(tools.map(({ public_name }: { public_name: string }) => public_name)).toContain('every__get-sum')
    expect((await check('huge-list')).tools).toHaveLength(500)
    expect(await check('redirect')).toMatchObject({ ok: false, failure: { kind: 'protocol' } })
  })

  it('answer calls of many requests at once, in one session that no request owns', async () => {
    const sums = await Promise.all(Array.from({ length: 12 }, (_, n) => call('every__get-sum', { a: n, b: 1 })))
    expect(sums.map(({ result }) => result?.content[0].text)).toEqual(
      Array.from({ length: 12 }, (_, n) => `The sum of ${n} and 1 is ${n + 1}.`),
    )
    const opened = () => everything.lines.filter((line) => line.startsWith('Session initialized')).length
    const before = opened()
    expect((await call('every__echo', { message: 'later' })).result.content[0].text).toBe('Echo: later')
    expect(opened()).toBe(before)
  })

  it('have as many calls of a key at once as it may have, and room again when a client leaves', async () => {
    const made = await ask('/ui/api/keys', chatInit({ max_parallel_requests: 1 }))
    const { key } = (await made.json()) as { key: string }
    const send = (name: string, args: object, signal?: AbortSignal) =>
      fetch(`${worker.url}/mcp`, {
        // Who asks for progress gets a stream that begins before its call has ended.
        ...chatInit(rpc(1, name, args, { _meta: { progressToken: 1 } })),
        headers: { 'content-type': 'application/json', accept: JSON_AND_EVENTS, authorization: `Bearer ${key}` },
        ...(signal ? { signal } : {}),
      })
    const echo = async () => {
      const response = await send('every__echo', { message: 'x' })
      await response.text()
      return response.status
    }
    expect([await echo(), await echo()]).toEqual([200, 200])
    const leaving = new AbortController()
    const long = 'every__trigger-long-running-operation'
    const { body } = await send(long, { duration: 20, steps: 40 }, leaving.signal)
    expect([await echo(), await echo()]).toEqual([429, 429])
    leaving.abort()
    await expect(body?.getReader().read()).rejects.toThrow()
    await expect.poll(echo).toBe(200)
  })

  it('are asked in another session when they have lost theirs', async () => {
    for (let n = 0; n < 3; n++) {
      expect((await call('forgetful__say', { text: `${n}` })).result).toMatchObject({ content: [{ text: `${n}` }] })
    }
  })

  it.each(['flood', 'bomb', 'endless-stream'])('that misbehave cost one call, and no other: %s', async (key) => {
    const misbehaved = call(`${key}__say`, { text: 'x' })
    expect((await call('plain__say', { text: 'meanwhile' })).result.content[0].text).toBe('meanwhile')
    const { result, error } = await misbehaved
    expect(error?.message ?? JSON.stringify(result)).toContain(`'${key}'`)
    expect((await call('plain__say', { text: 'after' })).result.content[0].text).toBe('after')
  })
})
