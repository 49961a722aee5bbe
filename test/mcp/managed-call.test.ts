import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type EverythingServer, startEverythingServer } from '../support/everything-server.node.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { answer } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const MODEL = 'everything-model'
let everything: EverythingServer
let gateway: TestGateway

beforeAll(async () => {
  everything = await startEverythingServer()
  gateway = await startGateway(`
gateway_settings:
  mcp_servers: [{ server_key: all, base_url: '${everything.url}', request_timeout_ms: 1000 }]
model_list:
  - model_name: m
    gateway_params: { model: openai-compatible/${MODEL}, api_base: '${upstream.url}/v1', api_key: sk-upstream-canary-91c2 }`)
})
afterAll(async () => {
  await gateway?.close()
  await everything?.close()
})

it('the reference server runs in a call: sums, images, errors, and what takes too long', async () => {
  const calls: readonly (readonly [name: string, args: object])[] = [
    ['all__get-sum', { a: 2, b: 3 }],
    ['all__get-tiny-image', {}],
    ['all__get-sum', { a: 'two' }],
    ['all__trigger-long-running-operation', { duration: 30, steps: 3 }],
  ]
  await upstream.script(MODEL, [
    answer({
      toolCalls: calls.map(([name, args], at) => ({ id: `call_${at}`, name, arguments: JSON.stringify(args) })),
    }),
    answer({ text: 'Done.' }),
  ])
  const tools = [{ type: 'mcp', server: 'all' }]
  const response = await gateway.chat({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], tools })
  expect(response.status).toBe(200)
  const [{ message }] = (await response.json()).choices
  expect(message).toMatchObject({
    content: 'Done.',
    tool_executions: [
      { tool: 'get-sum', is_error: false, result: expect.stringContaining('5') },
      { tool: 'get-tiny-image', is_error: false, result: expect.stringContaining('[An image (image/png)') },
      { tool: 'get-sum', is_error: true },
      { is_error: true, result: expect.stringContaining('within 1000 ms') },
    ],
  })
  const [first, second] = (await upstream.calls(MODEL)).map(bodyOf) as { tools: object[]; messages: object[] }[]
  expect(first?.tools.length).toBeGreaterThan(5)
  expect(second?.messages.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'text' }, { type: 'image_url' }] })
})
