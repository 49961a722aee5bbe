import { describe, expect, inject, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../support/gateway.ts'
import { answer, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/dropped-${run}-${name}`
const decoder = new TextDecoder()

const gateway = withGateway(() => {
  const deployment = (group: string, id: string, model: string, base: string, more = '') => `  - model_name: ${group}
    deployment_id: ${id}
    gateway_params: { model: ${model}, api_base: "${upstream.url}${path(id)}${base}", api_key: sk-1${more} }
`
  return `model_list:
${deployment('crossed', 'crossed', 'openai-compatible/m', '/v1')}${deployment('native', 'native', 'anthropic/m', '')}${deployment('renamed', 'renamed', 'azure/prod', '')}${deployment('strict', 'strict', 'openai-compatible/m', '/v1', ', strict: true')}${deployment('either', 'either-a', 'openai-compatible/m', '/v1', ', strict: true')}${deployment('either', 'either-b', 'openai-compatible/m', '/v1')}${['openai-compatible', 'anthropic'].map((kind) => `${deployment('low', `capped-${kind}`, `${kind}/m`, kind === 'anthropic' ? '' : '/v1')}    model_info: { max_output_tokens: 4096, max_input_tokens: ${kind.length * 1000}, tags: [${kind}] }\n`).join('')}`
})

const hints = { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }
const post = (model: string, fields: object = hints, headers: Record<string, string> = {}) => {
  const messages = [{ role: 'user', content: 'Hi' }]
  return gateway.fetch('/v1/messages', chatInit({ model, max_tokens: 9, messages, ...fields }, { headers }))
}
const refusal = {
  type: 'error',
  error: { type: 'invalid_request_error', message: expect.stringContaining("'context_management'") },
}

describe('clients of the Messages API', () => {
  it.each([{ 'anthropic-version': '2023-06-01' }, { 'x-api-key': MASTER_KEY }])(
    'get the models in its shape, by %o',
    async (headers) => {
      const type = 'model'
      const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
      const list = (await (await gateway.fetch('/v1/models', { headers })).json()) as { data: unknown[] }
      expect(list).toMatchObject({ has_more: false, first_id: 'crossed', last_id: expect.any(String) })
      const limits = { max_input_tokens: null, max_tokens: null }
      expect(list.data[0]).toEqual({ type, id: 'crossed', display_name: 'crossed', created_at, ...limits })
      const one = await gateway.fetch('/v1/models/native', { headers })
      expect(await one.json()).toEqual({ type, id: 'native', display_name: 'native', created_at, ...limits })
      const low = await gateway.fetch('/v1/models/low', { headers })
      expect(await low.json()).toMatchObject({ max_input_tokens: 9000, max_tokens: 4096 })
    },
  )

  it('get the models in pages, forwards and back', async () => {
    const headers = { 'anthropic-version': '2023-06-01' }
    const read = async (query: string) => {
      const page = await gateway.fetch(`/v1/models?${query}`, { headers })
      const { data = [], has_more } = (await page.json()) as { data?: { id: string }[]; has_more?: boolean }
      return [page.status, data.map(({ id }) => id), has_more]
    }
    const [, names] = (await read('')) as [number, string[]]
    const [first = '', second = '', third = ''] = names
    expect(await read('limit=1')).toEqual([200, [first], true])
    expect(await read(`limit=1&after_id=${first}`)).toEqual([200, [second], true])
    expect(await read(`limit=1&before_id=${third}`)).toEqual([200, [second], true])
    expect(await read(`limit=1&before_id=${second}`)).toEqual([200, [first], false])
    expect(await read(`after_id=${names.at(-1)}`)).toEqual([200, [], false])
    for (const wrong of ['limit=0', 'limit=1001', 'after_id=none'])
      expect(await read(wrong)).toEqual([400, [], undefined])
  })

  it('are told in their words that a prompt is too long, as are those of OpenAI', async () => {
    const refusal = json(400, { error: { message: 'The maximum is 8 tokens.', code: 'context_length_exceeded' } })
    await upstream.script(path('crossed'), [refusal, refusal, refusal])
    const responses = chatInit({ model: 'crossed', input: 'Hi' })
    const refused = [
      post('crossed', {}),
      gateway.chat({ model: 'crossed', messages: [{ role: 'user', content: 'Hi' }] }),
      gateway.fetch('/v1/responses', responses),
    ]
    const ofOpenai = [
      400,
      { error: { message: 'Your input exceeds the context window of this model: The maximum is 8 tokens.' } },
    ]
    expect(await Promise.all(refused.map(async (one) => [(await one).status, await (await one).json()]))).toMatchObject(
      [[400, { error: { message: 'prompt is too long: The maximum is 8 tokens.' } }], ofOpenai, ofOpenai],
    )
  })
})

describe('hints that a provider cannot be told', () => {
  it('are left out, named in the answer and counted', async () => {
    await upstream.script(path('crossed'), [answer({ text: 'Hi you.' }), answer({ text: 'Again.' })])
    const answered = await post('crossed')
    expect(answered.status).toBe(200)
    expect(answered.headers.get('x-gateway-dropped')).toBe('context_management')
    const streamed = await post('crossed', { ...hints, speed: 'fast', stream: true })
    expect(streamed.headers.get('x-gateway-dropped')).toBe('context_management, speed')
    await streamed.text()
    for (const { body } of await upstream.calls(path('crossed'))) {
      expect(decoder.decode(body)).not.toMatch(/context_management|speed/)
    }
    await gateway.idle()
    const page = await (await gateway.fetch('/metrics')).text()
    expect(page).toMatch(
      /gateway_fields_dropped_total\{endpoint="\/v1\/messages",provider="openai-compatible",field="context_management"\} 2/,
    )
  })

  it('have names that the gateway knows: one that its client made up is refused', async () => {
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
    const generate = (toolConfig: object) =>
      gateway.fetch('/v1beta/models/crossed:generateContent', chatInit({ contents, toolConfig }))
    await upstream.script(path('crossed'), [answer({ text: 'Hi you.' })])
    const refused = await generate({ 'später\r\n': { a: 1 }, retrievalConfig: { languageCode: 'en' } })
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('toolConfig.später') } },
    ])
    const answered = await generate({ retrievalConfig: { languageCode: 'en' } })
    expect(answered.headers.get('x-gateway-dropped')).toBe('toolConfig.retrievalConfig')
  })

  it('reach a provider of the dialect, and nothing is named', async () => {
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'end_turn' }
    await upstream.script(path('native'), [json(200, { ...message, usage: { input_tokens: 1, output_tokens: 1 } })])
    const answered = await post('native', hints, { 'x-gateway-strict': '1' })
    expect(answered.status).toBe(200)
    expect(answered.headers.has('x-gateway-dropped')).toBe(false)
    const [call] = await upstream.calls(path('native'))
    expect(decoder.decode(call?.body)).toContain('clear_thinking_20251015')
  })

  it('are refused by a strict call', async () => {
    const refused = await post('crossed', hints, { 'x-gateway-strict': '1' })
    expect([refused.status, await refused.json()]).toMatchObject([400, refusal])
  })

  it('are refused by a strict deployment, unless another takes the call', async () => {
    const refused = await post('strict')
    expect([refused.status, await refused.json()]).toMatchObject([400, refusal])
    for (let times = 0; times < 4; times++) {
      await upstream.script(path('either-b'), [answer({ text: 'Hi you.' })])
      const taken = await post('either')
      expect(taken.headers.get('x-gateway-deployment')).toBe('either-b')
    }
  })
})

describe('fields by which a provider chooses another model', () => {
  it.each([[[{ model: 'claude-opus-5-5' }]], ['default']])(
    'are left out of a message and named: fallbacks %j',
    async (fallbacks) => {
      const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'end_turn' }
      await upstream.script(path('native'), [json(200, { ...message, usage: { input_tokens: 1, output_tokens: 1 } })])
      const answered = await post('native', { fallbacks }, { 'anthropic-beta': 'server-side-fallback-2026-07-01' })
      expect([answered.status, answered.headers.get('x-gateway-dropped')]).toEqual([200, 'fallbacks'])
      const { body } = (await upstream.calls(path('native'))).at(-1) ?? {}
      expect(decoder.decode(body)).not.toContain('fallbacks')
    },
  )
})

describe('a limit above what the model writes', () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const whole = { type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'end_turn' }
  const cases = [
    ['/v1/messages', 'openai-compatible', { max_tokens: 32_000, messages }, 'max_tokens', 'max_completion_tokens'],
    ['/v1/messages', 'anthropic', { max_tokens: 32_000, messages }, 'max_tokens', 'max_tokens'],
    [
      '/v1/chat/completions',
      'anthropic',
      { max_completion_tokens: 9999, messages },
      'max_completion_tokens',
      'max_tokens',
    ],
    ['/v1/chat/completions', 'openai-compatible', { max_tokens: 9999, messages }, 'max_tokens', 'max_tokens'],
    ['/v1/responses', 'anthropic', { max_output_tokens: 9999, input: 'Hi' }, 'max_output_tokens', 'max_tokens'],
  ] as const

  it.each(cases)('of %s at %s is lowered to it, and named', async (endpoint, kind, body, field, sent) => {
    const at = path(`capped-${kind}`)
    await upstream.script(at, [kind === 'anthropic' ? json(200, { ...whole, id: 'm', usage: {} }) : answer()])
    const ask = (fields: object, headers: Record<string, string> = {}) =>
      gateway.fetch(endpoint, chatInit({ model: 'low', metadata: { tags: [kind] }, ...body, ...fields }, { headers }))
    const response = await ask({})
    expect([response.status, response.headers.get('x-gateway-dropped')]).toEqual([200, field])
    const [asked] = (await upstream.calls(at)).slice(-1)
    expect(JSON.parse(decoder.decode(asked?.body))).toMatchObject({ [sent]: 4096 })
    expect((await ask({}, { 'x-gateway-strict': '1' })).status).toBe(400)
    expect((await ask({ [field]: 4096 })).headers.has('x-gateway-dropped')).toBe(false)
  })
})

describe('a deployment on Azure whose name tells nothing of its model', () => {
  const refused = (param: string, code: string, message: string) =>
    json(400, { error: { message, type: 'invalid_request_error', param, code } })
  const limit = refused(
    'max_tokens',
    'unsupported_parameter',
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  )
  const sampling = refused(
    'temperature',
    'unsupported_value',
    "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
  )
  const sent = async (calls: number) =>
    (await upstream.calls(path('renamed'))).slice(-calls).map((call) => JSON.parse(decoder.decode(call.body)))
  const fields = { temperature: 0.3 }

  it('is asked again with the fields that it takes, in the same attempt', async () => {
    await upstream.script(path('renamed'), [limit, sampling, answer()])
    const messages = [{ role: 'user', content: 'Hi' }]
    const response = await gateway.chat({ model: 'renamed', messages, max_tokens: 9, ...fields })
    expect([response.status, response.headers.get('x-gateway-attempts')]).toEqual([200, '1'])
    expect(response.headers.get('x-gateway-dropped')).toBe('temperature')
    const asked = { model: 'prod', messages }
    expect(await sent(3)).toEqual([
      { ...asked, max_tokens: 9, ...fields },
      { ...asked, max_completion_tokens: 9, ...fields },
      { ...asked, max_completion_tokens: 9 },
    ])
  })

  it('is asked so at once by the next call, and asked as ever by one that is sampled otherwise', async () => {
    await upstream.script(path('renamed'), [answer(), sampling, answer(), answer()])
    for (const one of [fields, { temperature: 0.4 }, { temperature: 0.3, reasoning_effort: 'none' }]) {
      const messages = [{ role: 'user', content: 'Hi' }]
      const response = await gateway.chat({ model: 'renamed', messages, max_tokens: 9, ...one })
      const isSampled = 'reasoning_effort' in one
      expect([response.status, response.headers.get('x-gateway-dropped')]).toEqual([
        200,
        isSampled ? null : 'temperature',
      ])
    }
    expect((await sent(4)).map(({ temperature, ...rest }) => [temperature, rest.max_completion_tokens])).toEqual([
      [undefined, 9],
      [0.4, 9],
      [undefined, 9],
      [0.3, 9],
    ])
  })

  it('is so for a client of another dialect', async () => {
    await upstream.script(path('renamed'), [sampling, answer(), answer()])
    for (let times = 0; times < 2; times++) {
      const response = await post('renamed', { temperature: 0.5 })
      expect([response.status, response.headers.get('x-gateway-dropped')]).toEqual([200, 'temperature'])
    }
    expect((await sent(3)).map(({ temperature }) => temperature)).toEqual([0.5, undefined, undefined])
  })

  it('is not told otherwise what a strict client asks for', async () => {
    await upstream.script(path('renamed'), [sampling, answer()])
    const response = await post('renamed', fields, { 'x-gateway-strict': '1' })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('temperature') } },
    ])
  })
})
