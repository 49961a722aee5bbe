import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../support/gateway.ts'
import { heardBy } from '../support/mcp-heard.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { withGateway } from '../support/with-gateway.ts'

const farEnd = inject('mcpServerUrl')
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const NAME = `door-${run}`

const gateway = withGateway(
  () => `
gateway_settings:
  mcp_servers:
    - { server_key: docs, base_url: '${farEnd}/mcp/${NAME}' }
    - { server_key: slow, base_url: '${farEnd}/mcp/slow-${NAME}', request_timeout_ms: 200 }
    - { server_key: gone, base_url: 'http://127.0.0.1:1/mcp' }
`,
)

describe("the official client of MCP, of the gateway's tools", () => {
  const clients: Client[] = []
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()))
  })

  /** Connected. Only its base address and key are ours. */
  async function connected(key = MASTER_KEY) {
    const transport = new StreamableHTTPClientTransport(new URL('http://gateway.test/mcp'), {
      fetch: (url, init) => {
        const headers = Object.fromEntries(new Headers(init?.headers))
        return gateway.fetch(String(url).replace('http://gateway.test', ''), { ...init, headers })
      },
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    })
    const client = new Client({ name: 'tests', version: '1.0.0' })
    clients.push(client)
    await client.connect(transport)
    return { client, transport }
  }
  const called = async () => (await heardBy(farEnd, NAME)).filter(({ method }) => method === 'tools/call')

  it('connects in the newest version, is told of tools alone, and needs no session to be ended', async () => {
    const { client, transport } = await connected()
    expect(transport.protocolVersion).toBe('2025-11-25')
    expect(client.getServerVersion()).toMatchObject({ name: 'model-gateway' })
    expect(client.getServerCapabilities()).toEqual({ tools: {} })
    await client.ping()
    await transport.terminateSession()
  })

  it('is refused without a key', async () => {
    await expect(connected('sk-wrong')).rejects.toThrow(/401|Unauthorized|not valid/)
  })

  it('lists the tools of the servers that are there', async () => {
    const { client } = await connected()
    const { tools, nextCursor } = await client.listTools()
    expect(nextCursor).toBeUndefined()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['docs__echo', 'docs__image', 'slow__hang']))
    expect(tools.find(({ name }) => name === 'docs__echo')).toMatchObject({
      description: 'Does echo.',
      inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
    })
  })

  it('calls them: text, images, structure', async () => {
    const { client } = await connected()
    const call = (name: string, args = {}) => client.callTool({ name, arguments: args })
    expect((await call('docs__echo', { message: 'Grüezi 🏔' })).content).toEqual([
      { type: 'text', text: 'echo: Grüezi 🏔' },
    ])
    expect((await call('docs__image')).content.map(({ type, mimeType }) => mimeType ?? type)).toEqual([
      'text',
      'image/png',
    ])
    expect((await call('docs__data')).structuredContent).toEqual({ answer: 42 })
    expect((await called()).at(-3)?.params).toEqual({ name: 'echo', arguments: { message: 'Grüezi 🏔' } })
  })

  it('sends and gets integers of 64 bits as they are written', async () => {
    const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"docs__written","arguments":'
    const init = chatInit(`${call}{"id":9223372036854775807,"in":[-12345678901234567890,1.5]}}}`)
    const answer = await (await gateway.fetch('/mcp', init)).text()
    expect(answer).toContain('\\"arguments\\":{\\"id\\":9223372036854775807,\\"in\\":[-12345678901234567890,1.5]}')
    expect(answer).toContain('"structuredContent":{"id":1234567890123456789}')
  })

  it('hears what went wrong: as a result of the tool, and as an error where there is none', async () => {
    const { client } = await connected()
    const wrong = async (name: string) => {
      const { isError, content } = await client.callTool({ name })
      expect(isError).toBe(true)
      return content[0]?.text
    }
    expect(await wrong('docs__wrong')).toBe('no such page')
    expect(await wrong('gone__any')).toContain("'gone'")
    expect(await wrong('slow__hang')).toBe("The tool server 'slow' did not answer within 200 ms.")
    for (const name of ['docs__nothing', 'nobody__echo', '__proto__']) {
      await expect(client.callTool({ name })).rejects.toMatchObject({ code: -32602 })
    }
  })

  it('takes a call back, which ends it at the far end', async () => {
    const { client } = await connected()
    const before = (await called()).length
    const leaving = new AbortController()
    const progress = { signal: leaving.signal, onprogress: () => {} }
    const calls = [
      client.callTool({ name: 'docs__hang' }, undefined, { signal: leaving.signal }),
      client.callTool({ name: 'docs__hang' }, undefined, progress),
    ].map((call) => expect(call).rejects.toThrow('enough'))
    await heardBy(farEnd, NAME, (heard) => heard.filter(({ method }) => method === 'tools/call').length === before + 2)
    leaving.abort('enough')
    await Promise.all(calls)
    const cancelled = (heard: readonly { readonly method: string }[]) =>
      heard.filter(({ method }) => method === 'notifications/cancelled').length >= 2
    await heardBy(farEnd, NAME, cancelled)
  })

  it('a hundred calls at once are each answered with their own', async () => {
    const { client } = await connected()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, message) => client.callTool({ name: 'docs__echo', arguments: { message } })),
    )
    expect(answers.map(({ content }) => content[0]?.text)).toEqual(answers.map((_, index) => `echo: ${index}`))
  })

  it('its calls are rows of the ledger and counted', async () => {
    const { client } = await connected()
    await gateway.idle()
    const rows = gateway.records.length
    await client.callTool({ name: 'docs__echo', arguments: { message: 'once' } })
    await gateway.idle()
    const page = parsePrometheus(await (await gateway.fetch('/metrics')).text())
    expect(page.value('gateway_tool_calls_total', { server: 'docs', tool: 'echo', result: 'ok' })).toBeGreaterThan(0)
    expect(JSON.stringify(gateway.records.slice(rows))).toContain('"docs__echo"')
  })
})
