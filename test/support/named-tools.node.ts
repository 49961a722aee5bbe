import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** What a client sent. */
interface Message {
  readonly id?: string | number
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly params?: any
}

export interface NamedTools {
  readonly url: string
  /** Every message, as it came. */
  readonly messages: readonly Message[]
  /** The calls of a tool. */
  calls(tool: string): readonly Message[]
  /** The ids of calls whose client said that nobody waits for them, or left. */
  readonly ended: readonly (string | number)[]
  close(): Promise<void>
}

const text = (words: string, more = {}) => ({ content: [{ type: 'text', text: words }], ...more })
const object = (properties = {}) => ({ type: 'object', properties })
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A server of tools that does what each of them is named for. `tools`: further ones, which answer with their names. */
export async function startNamedTools(tools: readonly string[] = []): Promise<NamedTools> {
  const messages: Message[] = []
  const ended: (string | number)[] = []
  const listed = [
    {
      name: 'echo',
      title: 'Echo',
      description: 'Says what it was asked.',
      inputSchema: object({ words: { type: 'string', 'x-mcp-header': 'Words' } }),
      outputSchema: object({ given: { type: 'object' } }),
      annotations: { readOnlyHint: true },
      icons: [{ src: 'https://icons.test/echo.png', mimeType: 'image/png', sizes: ['48x48'] }],
      execution: { taskSupport: 'optional' },
      _meta: { 'far.test/group': { order: 7 } },
    },
    { name: 'counts', description: 'It counts.', inputSchema: object(), outputSchema: { type: 'integer' } },
    ...['image', 'fails', 'refuses', 'rejects', 'hangs', 'steps', ...tools].map((name) => ({
      name,
      description: `It ${name}.`,
      inputSchema: object(),
    })),
  ]

  async function called({ params }: Message, response: ServerResponse): Promise<object | 'later'> {
    const { name, arguments: given } = params
    switch (name) {
      case 'echo':
        return { result: text(JSON.stringify(given), { structuredContent: { given }, _meta: { 'far.test/took': 5 } }) }
      case 'counts':
        return { result: { content: [], structuredContent: 0 } }
      case 'image':
        return { result: { content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] } }
      case 'fails':
        return { result: text('It cannot be done.', { isError: true }) }
      case 'refuses':
        return { error: { code: -32000, message: 'out of order' } }
      case 'rejects':
        return { error: { code: -32602, message: 'words: is missing' } }
      case 'hangs':
        return 'later'
      case 'steps': {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const progress of [1, 2, 3]) {
          const told = { progressToken: params._meta?.progressToken, progress, total: 3, message: `Step ${progress}` }
          if (params._meta) response.write(event({ method: 'notifications/progress', params: told }))
          await wait(20)
        }
        return { result: text('Three steps.') }
      }
      default:
        return { result: text(name) }
    }
  }

  async function answered(message: Message, response: ServerResponse): Promise<object | 'later'> {
    if (message.method === 'initialize') {
      const { protocolVersion } = message.params
      return {
        result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } },
      }
    }
    if (message.method === 'tools/list') return { result: { tools: listed } }
    return called(message, response)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message: Message = JSON.parse(Buffer.concat(await request.toArray()).toString())
    messages.push(message)
    const { id } = message
    if (message.method === 'notifications/cancelled') ended.push(message.params.requestId)
    if (id === undefined) return void response.writeHead(202).end()
    const answer = await answered(message, response)
    if (answer === 'later') return
    if (response.headersSent) return void response.end(event({ id, ...answer }))
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    messages,
    ended,
    calls: (tool) => messages.filter(({ method, params }) => method === 'tools/call' && params.name === tool),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const event = (message: object) => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
