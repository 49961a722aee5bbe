import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Heard } from './mcp-heard.ts'

export interface McpServer {
  /** Answers below `/mcp/<any name>`; what was asked under a name is told at `/_heard?name=`. */
  readonly url: string
  close(): Promise<void>
}

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const text = (of: string) => ({ type: 'text', text: of })

type Tools = Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => object>>

/** Beyond the precision of a double. */
const LONG_ID = '1234567890123456789'

/** What each tool returns; `hang` never does, and `written` tells what it was sent to the byte, and an id of 64 bits. */
const TOOLS: Tools = {
  echo: ({ message }) => ({ content: [text(`echo: ${message}`)] }),
  big: () => ({ content: [text('x'.repeat(10 * 1024 * 1024))] }),
  image: () => ({ content: [text('a picture'), { type: 'image', mimeType: 'image/png', data: PNG }] }),
  wrong: () => ({ content: [text('no such page')], isError: true }),
  data: () => ({ content: [], structuredContent: { answer: 42 } }),
  hang: () => ({}),
  written: () => ({}),
}

/** A server of tools on this machine, which speaks MCP over Streamable HTTP. */
export async function startMcpServer(tools = TOOLS, name = 'of the tests'): Promise<McpServer> {
  const heard: Heard[] = []
  let sessions = 0

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = new URL(request.url ?? '/', 'http://x')
    if (address.pathname === '/_heard') {
      const name = address.searchParams.get('name')
      return answer(
        response,
        heard.filter((one) => one.name === name),
      )
    }
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
    const pieces: Uint8Array[] = []
    for await (const piece of request) pieces.push(piece)
    const written = Buffer.concat(pieces).toString()
    const { id, method, params = {} }: Message = JSON.parse(written)
    heard.push({ name: address.pathname.split('/').at(-1) ?? '', method, params })
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/call' && params.name === 'hang') return
    if (method === 'tools/call' && params.name === 'written') {
      const result = `{"content":[{"type":"text","text":${JSON.stringify(written)}}],"structuredContent":{"id":${LONG_ID}}}`
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
    }
    const result = resultOf({ tools, name }, method, params)
    const body = result
      ? { jsonrpc: '2.0', id, result }
      : { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
    if (method === 'initialize') response.setHeader('mcp-session-id', `session-${++sessions}`)
    answer(response, body)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function resultOf(
  { tools, name }: { readonly tools: Tools; readonly name: string },
  method: string,
  params: Readonly<Record<string, unknown>>,
): object | undefined {
  switch (method) {
    case 'initialize': {
      const serverInfo = { name, version: '1.0.0' }
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }
    }
    case 'ping':
      return {}
    case 'tools/list': {
      const inputSchema = { type: 'object', properties: { message: { type: 'string' } } }
      return { tools: Object.keys(tools).map((name) => ({ name, description: `Does ${name}.`, inputSchema })) }
    }
    case 'tools/call':
      return tools[String(params.name)]?.((params.arguments ?? {}) as Record<string, unknown>)
    default:
      return undefined
  }
}

function answer(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
