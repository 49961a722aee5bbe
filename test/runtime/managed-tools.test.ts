import { afterEach, describe, expect, inject, it } from 'vitest'
import { chatInit } from '../support/gateway.ts'
import { heardBy } from '../support/mcp-heard.ts'
import { openaiClient } from '../support/openai-client.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { answer, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const farEnd = inject('mcpServerUrl')
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const model = (kind: string) => `tools-${kind}-${run}`
const entry = (kind: string, provider: string, base: string) => `
  - model_name: ${model(kind)}
    gateway_params: { model: ${provider}/${model(kind)}, api_base: '${upstream.url}${base}', api_key: sk-upstream-canary-91c2 }
    model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.01 }`

const gateway = withGateway(
  () => `
gateway_settings:
  mcp_servers:
    - { server_key: docs, base_url: '${farEnd}/mcp/docs-${run}' }
    - { server_key: slow, base_url: '${farEnd}/mcp/slow-${run}', request_timeout_ms: 200 }
    - { server_key: gone, base_url: 'http://127.0.0.1:1/mcp' }
model_list:${entry('chat', 'openai-compatible', '/v1')}${entry('native', 'openai', '/v1')}${entry('claude', 'anthropic', '')}`,
)

const messages = [{ role: 'user', content: 'Hello' }]
const tools = [{ type: 'mcp', server: 'docs', require_approval: 'never' }]
const calling = (...calls: readonly (readonly [name: string, args: object])[]) =>
  answer({
    toolCalls: calls.map(([name, args], index) => ({ id: `call_${index}`, name, arguments: JSON.stringify(args) })),
  })
const sent = async (name: string) => (await upstream.calls(name)).map((call) => bodyOf(call) as Record<string, never>)
const finishedLine = async () => {
  await gateway.idle()
  return gateway.logs.findLast((line) => line.event === 'call.finished')
}

describe('managed tools', () => {
  afterEach(async () => {
    await gateway.idle()
    const places = ['chat', 'native', 'claude'].map((kind) => `${model(kind)}-1`)
    const signals = () => Promise.resolve(gateway.store.signals(places))
    await expect.poll(async () => (await signals()).map(({ active }) => active)).toEqual([0, 0, 0])
  })

  it('run for a chat: one answer, one row, one bill', async () => {
    await upstream.script(model('chat'), [
      calling(['docs__echo', { message: 'a' }], ['docs__data', {}]),
      answer({ text: 'Done.' }),
    ])
    const rows = gateway.records.length
    const before = (await upstream.calls(model('chat'))).length
    const headers = { 'x-gateway-explain': '1' }
    const response = await gateway.chat({ model: model('chat'), messages, tools }, { headers })
    expect(response.status).toBe(200)
    const taken = `${model('chat')}-1;taken`
    expect(response.headers.get('x-gateway-explain')).toBe(`${taken}, ${taken}`)
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    const body = await response.json()
    expect(body.choices[0].message).toMatchObject({
      content: 'Done.',
      tool_executions: [
        { server: 'docs', tool: 'echo', result: 'echo: a', is_error: false },
        { server: 'docs', tool: 'data', result: '{"answer":42}', is_error: false },
      ],
    })
    const asked = (await sent(model('chat'))).slice(before)
    expect(asked).toHaveLength(2)
    expect(JSON.stringify(asked)).not.toContain('"mcp"')
    const line = await finishedLine()
    expect(gateway.records).toHaveLength(rows + 1)
    expect(line).toMatchObject({
      attempts: 2,
      tried: [{ turn: 1 }, { turn: 2 }],
      tools: [
        { server: 'docs', tool: 'echo', result: 'ok' },
        { server: 'docs', tool: 'data', result: 'ok' },
      ],
      usage: { inputTokens: body.usage.prompt_tokens, outputTokens: body.usage.completion_tokens },
      costNano: body.usage.prompt_tokens * 1_000_000 + body.usage.completion_tokens * 10_000_000,
    })
    const page = parsePrometheus(await (await gateway.fetch('/metrics')).text())
    const labels = { server: 'docs', tool: 'echo', result: 'ok' }
    expect(page.value('gateway_tool_calls_total', labels)).toBeGreaterThan(0)
    expect(page.value('gateway_tool_call_seconds_count', { server: 'docs' })).toBeGreaterThan(1)
  })

  it('that hang, are too large or are not there are results of their calls', async () => {
    await upstream.script(model('chat'), [
      calling(['slow__hang', {}], ['docs__big', {}], ['docs__nothing', {}], ['docs__wrong', {}]),
      answer({ text: 'Done.' }),
    ])
    const both = [...tools, { type: 'mcp', server: 'slow' }]
    const { choices } = await (await gateway.chat({ model: model('chat'), messages, tools: both })).json()
    const [hung, big, nothing, wrong] = choices[0].message.tool_executions
    expect(hung).toMatchObject({ is_error: true, result: expect.stringContaining('within 200 ms') })
    expect(big.result.length).toBeLessThanOrEqual(256 * 1024)
    expect(big.result).toMatch(/^x+\n?\[The result was cut|^The call failed/)
    expect(nothing).toMatchObject({ is_error: true, result: "There is no tool 'docs__nothing'." })
    expect(wrong).toMatchObject({ is_error: true, result: 'no such page' })
    await heardBy(farEnd, `slow-${run}`, (heard) => heard.some(({ method }) => method === 'notifications/cancelled'))
  })

  it('end with their client, and their server is told', async () => {
    await upstream.script(model('chat'), [calling(['docs__hang', {}])])
    const leaving = new AbortController()
    const asking = gateway
      .chat({ model: model('chat'), messages, tools }, { signal: leaving.signal })
      .catch((error: unknown) => error)
    const isHung = ({ method, params }: { method: string; params: object }) =>
      method === 'tools/call' && 'name' in params && params.name === 'hang'
    await heardBy(farEnd, `docs-${run}`, (heard) => heard.some(isHung))
    leaving.abort()
    await asking
    await heardBy(farEnd, `docs-${run}`, (heard) => heard.some(({ method }) => method === 'notifications/cancelled'))
    await expect.poll(async () => (await finishedLine())?.ending).toBe('client_closed')
    expect(await finishedLine()).toMatchObject({
      usage: { inputTokens: expect.any(Number) },
      tools: [{ tool: 'hang' }],
    })
  })

  it('of a server that is away are an error of their own', async () => {
    const response = await gateway.chat({ model: model('chat'), messages, tools: [{ type: 'mcp', server: 'gone' }] })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'tool_server_failed', param: 'tools.0' } })
  })

  it('run at Anthropic, with their images', async () => {
    const usage = { input_tokens: 20, output_tokens: 5 }
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null, usage }
    const call = { type: 'tool_use', id: 'toolu_1', name: 'docs__image', input: {} }
    await upstream.script(model('claude'), [
      json(200, { ...head, content: [call], stop_reason: 'tool_use' }),
      json(200, { ...head, content: [{ type: 'text', text: 'A dot.' }], stop_reason: 'end_turn' }),
    ])
    const body = await (await gateway.chat({ model: model('claude'), messages, tools })).json()
    expect(body).toMatchObject({
      choices: [{ message: { content: 'A dot.', tool_executions: [{ tool: 'image' }] } }],
      usage: { prompt_tokens: 40, completion_tokens: 10 },
    })
    const [, second] = await sent(model('claude'))
    expect((second as unknown as { messages: object[] }).messages.at(-1)).toMatchObject({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1' },
        { type: 'text' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png' } },
      ],
    })
  })

  it("run for OpenAI's own client, in both of its APIs", async () => {
    await upstream.script(model('chat'), [calling(['docs__echo', { message: 'b' }]), answer({ text: 'Done.' })])
    const client = openaiClient(gateway)
    const completion = await client.chat.completions.create({
      model: model('chat'),
      messages: [{ role: 'user', content: 'Hello' }],
      tools: tools as never,
    })
    expect(completion.choices[0]?.message).toMatchObject({ content: 'Done.', tool_executions: [{ result: 'echo: b' }] })

    const usage = {
      ...{ input_tokens: 20, output_tokens: 5, total_tokens: 25 },
      ...{ input_tokens_details: { cached_tokens: 8 }, output_tokens_details: { reasoning_tokens: 2 } },
    }
    const head = { object: 'response', created_at: 1, status: 'completed', model: 'gpt', error: null, usage }
    const call = {
      ...{ id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'docs__echo' },
      arguments: '{"message":"c"}',
    }
    const content = [{ type: 'output_text', text: 'Said.', annotations: [] }]
    const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content }
    await upstream.script(model('native'), [
      json(200, { ...head, id: 'resp_1', output: [call] }),
      json(200, { ...head, id: 'resp_2', output: [message] }),
    ])
    const response = await client.responses.create({
      model: model('native'),
      input: 'Hello',
      tools: [{ type: 'mcp', server_label: 'docs', require_approval: 'never', allowed_tools: ['echo'] }],
    })
    expect(response.output_text).toBe('Said.')
    expect(response.output).toMatchObject([
      { type: 'mcp_list_tools', server_label: 'docs', tools: [{ name: 'echo' }] },
      { type: 'mcp_call', name: 'echo', arguments: '{"message":"c"}', output: 'echo: c', error: null },
      { type: 'message' },
    ])
    expect(response.usage).toMatchObject({ input_tokens: 40, output_tokens_details: { reasoning_tokens: 4 } })
    expect(await finishedLine()).toMatchObject({ usage: { inputTokens: 40, cachedInputTokens: 16 } })
    expect(JSON.stringify(await sent(model('native')))).not.toContain('"mcp"')
  })

  it('get integers of 64 bits as a model writes them', async () => {
    await upstream.script(model('chat'), [
      answer({ toolCalls: [{ id: 'call_1', name: 'docs__written', arguments: '{"id":9223372036854775807}' }] }),
      answer({ text: 'Done.' }),
    ])
    const { choices } = await (await gateway.chat({ model: model('chat'), messages, tools })).json()
    const [execution] = choices[0].message.tool_executions
    expect(execution).toMatchObject({ arguments: '{"id":9223372036854775807}', is_error: false })
    expect(execution.result).toContain('"arguments":{"id":9223372036854775807}')
  })

  it('are no matter of other endpoints', async () => {
    const asked = { model: model('claude'), max_tokens: 5, messages, tools: [{ ...tools[0], name: 'x' }] }
    const response = await gateway.fetch('/v1/messages', chatInit(asked))
    expect(response.status).toBe(400)
    const prompted = await gateway.fetch('/v1/completions', chatInit({ model: model('chat'), prompt: 'Hello', tools }))
    expect(prompted.status).toBe(400)
  })
})
