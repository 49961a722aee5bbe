import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../support/full-gateway.node.ts'
import { chatInit, MASTER_KEY } from '../support/gateway.ts'
import { type ScriptedToolServer, startScriptedToolServer } from '../support/scripted-tool-server.ts'

describe('a gateway whose servers of tools lead back to it', () => {
  let scripted: ScriptedToolServer
  let one: FullGateway
  let other: FullGateway
  beforeAll(async () => {
    scripted = await startScriptedToolServer()
    const yaml = (salt: string) => `
general_settings: { salt_key: ${salt} }
gateway_settings:
  mcp_servers: [{ server_key: plain, base_url: '${scripted.url('plain')}' }]
`
    one = await startFullGateway(yaml('salt-of-the-first-gateway-4c1f'))
    other = await startFullGateway(yaml('salt-of-the-second-gateway-9b2e'))
    const add = async (gateway: FullGateway, server_key: string, url: string) => {
      const record = { server_key, base_url: `${url}/mcp`, allow_private: true, auth_mode: 'bearer' }
      const { status } = await gateway.fetch('/ui/api/mcp-servers', chatInit({ ...record, auth_token: MASTER_KEY }))
      expect(status).toBe(201)
    }
    await add(one, 'self', one.url)
    await add(one, 'other', other.url)
    await add(other, 'one', one.url)
  })
  afterAll(async () => {
    await Promise.all([one?.close(), other?.close(), scripted?.close()])
  })

  async function ask(method: string, params: object) {
    const init = chatInit({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { ...(init.headers as Record<string, string>), accept: 'application/json, text/event-stream' }
    // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
    return (await (await one.fetch('/mcp', { ...init, headers })).json()) as any
  }

  it('lists what lies on the way, and asks nobody twice', async () => {
    const before = performance.now()
    const names = (await ask('tools/list', {})).result.tools.map(({ name }: { name: string }) => name)
    expect(names.sort()).toEqual(['other__plain__say', 'plain__say'])
    expect(performance.now() - before).toBeLessThan(15_000)
    const listed = scripted.received.filter(({ body }) => body?.method === 'tools/list')
    expect(listed.length).toBeLessThanOrEqual(3)
  })

  it('calls a tool through another gateway', async () => {
    const { result } = await ask('tools/call', { name: 'other__plain__say', arguments: { text: 'over there' } })
    expect(result.content).toEqual([{ type: 'text', text: 'over there' }])
  })

  it('says so when a server is checked that leads back', async () => {
    const response = await one.fetch('/ui/api/mcp-servers/self/check', { method: 'POST' })
    expect(await response.json()).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining('leads back to this gateway') },
    })
  })
})
