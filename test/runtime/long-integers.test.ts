import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../support/gateway.ts'
import { json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = `/long-integers-${run}`
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

/** Beyond the precision of a double, as are the ids of many services. */
const DATA = '{"id":1234567890123456789,"others":[-9223372036854775808,1]}'

const parameters = '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807}}}'
const messages = (before: string) =>
  `{"model":"chat","max_tokens":50,"messages":[{"role":"user","content":"Go"},
    {"role":"assistant","content":[{"type":"text","text":"${before}"},{"type":"tool_use","id":"a","name":"f","input":${DATA}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"done"}]}],
    "tools":[{"name":"f","input_schema":${parameters}}]}`
const contents = `{"contents":[{"role":"user","parts":[{"text":"Go"}]},
    {"role":"model","parts":[{"functionCall":{"name":"f","args":${DATA}}}]},
    {"role":"user","parts":[{"functionResponse":{"name":"f","response":${DATA}}}]}],
    "generationConfig":{"seed":1234567890}}`

describe('integers of 64 bits in the history that a client sends', () => {
  const gateway = withGateway(
    () => `model_list:
  - model_name: chat
    gateway_params: { model: openai-compatible/m, api_base: "${upstream.url}${path}/v1", api_key: sk-up }
`,
  )
  const sentFor = async (at: string, body: string) => {
    await upstream.script(`${path}/v1/chat/completions`, [json(200, completion)])
    const before = (await upstream.calls(`${path}/v1/chat/completions`)).length
    const response = await gateway.fetch(at, chatInit(body))
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi')])
    const sent = (await upstream.calls(`${path}/v1/chat/completions`))[before]
    return new TextDecoder().decode(sent?.body)
  }

  it.each([
    ['short', 'Going.'],
    ['long', 'word '.repeat(40_000)],
  ])('reach a provider of another API as they are: Messages, %s', async (_length, text) => {
    const sent = await sentFor('/v1/messages', messages(text))
    expect(sent).toContain(JSON.stringify(DATA))
    expect(JSON.parse(sent).tools[0].function.parameters.properties.id.maximum).toBe(2 ** 63)
  })

  it('reach a provider of another API as they are: Gemini', async () => {
    const sent = JSON.parse(await sentFor('/v1beta/models/chat:generateContent', contents))
    expect(sent.messages[1].tool_calls[0].function.arguments).toBe(DATA)
    expect(sent.messages[2].content).toBe(DATA)
    expect(sent.seed).toBe(1234567890)
  })

  it('reach a provider of another API as they are: documents of Cohere', async () => {
    const sent = await sentFor(
      '/v2/chat',
      `{"model":"chat","messages":[{"role":"user","content":"Go"}],"documents":[{"id":"d","data":${DATA}}],"citation_options":{"mode":"OFF"},"seed":1234567890123456789}`,
    )
    expect(JSON.parse(sent).messages[0].content).toContain(DATA)
    expect(JSON.parse(sent).seed).toBe(Number('1234567890123456789'))
  })
})
