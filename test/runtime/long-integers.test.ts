import { describe, expect, inject, it } from 'vitest'
import { configuration } from '../support/configuration.ts'
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
    expect(sent).toContain(`"parameters":${parameters}`)
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

describe('integers of 64 bits in the schemas of a request', () => {
  const KINDS = { chat: 'openai-compatible', claude: 'anthropic', gemini: 'gemini', cohere: 'cohere' }
  const at = (name: string) => `${path}-schemas-${name}`
  const gateway = withGateway(() =>
    configuration({
      model_list: Object.entries(KINDS).map(([name, kind]) => ({
        model_name: name,
        gateway_params: { model: `${kind}/m`, api_base: upstream.url + at(name), api_key: 'sk-up' },
      })),
    }),
  )
  /** What the provider of a model is sent. Its answer does not matter. */
  const sentTo = async (name: string, to: string, body: string) => {
    await upstream.script(at(name), [json(400, { error: { message: 'No.' } })])
    expect((await gateway.fetch(to, chatInit(body))).status).toBe(400)
    return new TextDecoder().decode((await upstream.calls(at(name))).at(-1)?.body)
  }
  const format = `"response_format":{"type":"json_schema","json_schema":{"name":"f","schema":${parameters}}}`
  const ask = (model: string, more: string) =>
    `{"model":"${model}","max_tokens":50,"messages":[{"role":"user","content":"Go"}],${more}}`
  const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`

  it.each(['claude', 'gemini', 'cohere'])('go from chat to %s as they are', async (model) => {
    expect(await sentTo(model, '/v1/chat/completions', ask(model, tools))).toContain(parameters)
  })

  it('go from chat in a format as they are', async () => {
    expect(await sentTo('gemini', '/v1/chat/completions', ask('gemini', format))).toContain(parameters)
    // Where the vendor enforces no bounds, the description has them.
    const described = await sentTo('claude', '/v1/chat/completions', ask('claude', format))
    expect(described).toContain('{maximum: 9223372036854775807}')
  })

  it('go from other dialects as they are', async () => {
    const responses = `{"model":"claude","input":"Go","tools":[{"type":"function","name":"f","parameters":${parameters}}]}`
    expect(await sentTo('claude', '/v1/responses', responses)).toContain(parameters)
    const gemini = `{"contents":[{"role":"user","parts":[{"text":"Go"}]}],
      "tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${parameters}}]}]}`
    expect(await sentTo('chat', '/v1beta/models/chat:generateContent', gemini)).toContain(parameters)
    expect(await sentTo('chat', '/v2/chat', ask('chat', tools))).toContain(parameters)
  })

  it('are numbers where a schema has nothing of the kind', async () => {
    const sent = await sentTo('claude', '/v1/chat/completions', ask('claude', `"seed":9223372036854775807,${tools}`))
    expect(sent).toContain(parameters)
    const refused = ask(
      'claude',
      '"tools":[{"type":"function","function":{"name":"f","parameters":9223372036854775807}}]',
    )
    expect((await gateway.fetch('/v1/chat/completions', chatInit(refused))).status).toBe(400)
  })

  /** Members that say how much there may be of something, which the APIs write in different ways. */
  const COUNTS = ['maxItems', 'minItems', 'maxLength', 'minLength', 'maxProperties', 'minProperties']
  const OTHERS = ['type', 'format', 'default', 'enum', 'required', 'items', 'properties', 'anyOf', '$ref', 'nullable']
  /** Schemas that have such an integer, or a list of one, where nobody expects it. */
  const odd = [...COUNTS, ...OTHERS].flatMap((word) =>
    ['9223372036854775807', '[9223372036854775807]'].map(
      (value) => `{"type":"object","properties":{"args":{"type":"string","${word}":${value}}}}`,
    ),
  )

  it.each(Object.keys(KINDS))('break no call, wherever they stand: to %s', async (model) => {
    await upstream.script(at(model), [json(400, { error: { message: 'No.' } })])
    const requests = odd.flatMap((schema) => {
      const functions = `"functionDeclarations":[{"name":"f","parameters":${schema},"response":${schema}}]`
      const tool = `"type":"function","function":{"name":"f","parameters":${schema}}`
      return [
        ['/v1/chat/completions', ask(model, `"tools":[{${tool}}]`)],
        ['/v1/messages', ask(model, `"tools":[{"name":"f","input_schema":${schema}}]`)],
        [
          `/v1beta/models/${model}:generateContent`,
          `{"contents":[{"role":"user","parts":[{"text":"Go"}]}],"tools":[{${functions}}]}`,
        ],
      ] as const
    })
    const answers = await Promise.all(
      requests.map(async ([to, body]) => `${(await gateway.fetch(to, chatInit(body))).status} ${body}`),
    )
    expect(answers.filter((one) => !one.startsWith('400'))).toEqual([])
  })
})
