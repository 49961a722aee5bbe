import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

type Content = CallToolResult['content']
const image: Content[number] = { type: 'image', data: PIXEL, mimeType: 'image/png' }

/** The tools that the conformance scenarios for servers ask for, each with its result. */
const RESULTS: Readonly<Record<string, Content>> = {
  test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    {
      type: 'resource',
      resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'An embedded resource.' },
    },
  ],
  test_multiple_content_types: [
    { type: 'text', text: 'Multiple content types test:' },
    image,
    {
      type: 'resource',
      resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data"}' },
    },
  ],
  test_tool_with_progress: [{ type: 'text', text: 'Done, step by step.' }],
  json_schema_2020_12_tool: [{ type: 'text', text: 'It has a schema.' }],
}

const TOOLS: readonly Tool[] = [...Object.keys(RESULTS), 'test_error_handling'].map((name) => ({
  name,
  description: `The tool ${name} of the conformance scenarios.`,
  inputSchema:
    name === 'json_schema_2020_12_tool'
      ? {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
          properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
          additionalProperties: false,
        }
      : { type: 'object', properties: {} },
}))

function conformanceServer(): Server {
  const server = new Server({ name: 'conformance-tools', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...TOOLS] }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }): Promise<CallToolResult> => {
    const { name, _meta } = params
    if (name === 'test_error_handling') {
      const text = 'This tool intentionally returns an error for testing'
      return { isError: true, content: [{ type: 'text', text }] }
    }
    const token = _meta?.progressToken
    for (const progress of name === 'test_tool_with_progress' && token !== undefined ? [0, 50, 100] : []) {
      const told = { progressToken: token as string | number, progress, total: 100 }
      await sendNotification({ method: 'notifications/progress', params: told })
      await wait(50)
    }
    return { content: RESULTS[name] ?? [] }
  })
  return server
}

export interface FarEnd {
  readonly url: string
  close(): Promise<void>
}

/** A server of these tools by the official SDK, on loopback. */
export async function startConformanceTools(): Promise<FarEnd> {
  const listener = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const server = conformanceServer()
    const transport = new StreamableHTTPServerTransport({})
    response.on('close', () => void server.close())
    await server.connect(transport as Parameters<typeof server.connect>[0])
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`,
    close: () => new Promise((resolve) => listener.close(() => resolve())),
  }
}
