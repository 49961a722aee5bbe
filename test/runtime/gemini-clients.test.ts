import { describe, expect, inject, it } from 'vitest'
import { block, end, input, last, start, stop, tool } from '../fixtures/anthropic/events.ts'
import { MASTER_KEY } from '../support/gateway.ts'
import { readStream } from '../support/sse.ts'
import { answer, cutAfter, frames, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const decoder = new TextDecoder()
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/gemini-clients-${run}-${name}`
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const KINDS = {
  gpt: ['openai-compatible/gpt-up', '/v1'],
  claude: ['anthropic/claude-up', ''],
  native: ['gemini/gemini-3-flash', ''],
  safe: ['openai-compatible/gpt-safe', '/v1'],
  guarded: ['gemini/gemini-3-flash', ''],
  embed: ['openai/text-embedding-3-small', '/v1'],
  google: ['gemini/gemini-embedding-001', ''],
} as const

const gateway = withGateway(() => {
  const entry = (group: string, name: string, [model, base]: readonly [string, string], more = '') =>
    `  - model_name: ${group}
    deployment_id: ${name}
    gateway_params: { model: ${model}, api_base: "${upstream.url}${path(name)}${base}", api_key: AIza-canary-77 }
${more}`
  const entries = Object.entries(KINDS).map(([name, kind]) => entry(name, name, kind))
  const capped = '    model_info: { max_output_tokens: 100, default_params: { temperature: 0.25 } }\n'
  const able = (priority: number) => `    model_info: { priority: ${priority}, supports_assistant_prefix: true }
`
  return `
router_settings: { routing_strategy: priority-based-routing, cooldown_time: 60, num_retries: 1 }
gateway_settings:
  content_policy_fallbacks: [{ guarded: [safe] }]
model_list:
${entries.join('')}${entry('vendor/capped', 'capped', KINDS.native, capped)}${entry('pair', 'pair-a', KINDS.native, able(0))}${entry('pair', 'pair-b', KINDS.gpt, able(1))}`
})

const post = (
  model: string,
  verb: string,
  body: object,
  init: { base?: string; headers?: Record<string, string> } = {},
) =>
  gateway.fetch(`${init.base ?? '/v1beta'}/models/${model}:${verb}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: '',
      ...(init.headers ?? { 'x-goog-api-key': MASTER_KEY }),
    },
    body: JSON.stringify(body),
  })
const callsOf = async (name: string) =>
  (await upstream.calls(path(name))).map((call) => ({ ...call, sent: JSON.parse(decoder.decode(call.body)) }))
const lastCallOf = async (name: string) => (await callsOf(name)).at(-1)
const finished = async () => {
  await gateway.idle()
  return gateway.logs.findLast((line) => line.event === 'call.finished')
}
const completion = (message: object, finish_reason = 'stop') => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'gpt-up-2',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
  usage: {
    prompt_tokens: 10,
    completion_tokens: 7,
    total_tokens: 17,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 3 },
  },
})
const call = (id: string, name: string, args: string) => ({ id, type: 'function', function: { name, arguments: args } })
const declared = {
  functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties: { x: { type: 'INTEGER' } } } }],
}

describe('a client of Gemini’s API at a provider of chat', () => {
  it('gets an answer in its own shape', async () => {
    await upstream.script(path('gpt'), [json(200, completion({ content: 'Grüße 🙂' }))])
    const response = await post('gpt', 'generateContent', {
      contents,
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      generation_config: { max_output_tokens: 50, temperature: 0.5, stopSequences: ['END'] },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-dropped')).toBe('safetySettings')
    expect(await response.json()).toEqual({
      candidates: [{ content: { parts: [{ text: 'Grüße 🙂' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 4,
        totalTokenCount: 17,
        thoughtsTokenCount: 3,
        cachedContentTokenCount: 4,
      },
      modelVersion: 'gpt-up-2',
      responseId: 'chatcmpl-1',
    })
    expect((await lastCallOf('gpt'))?.sent).toEqual({
      model: 'gpt-up',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      max_completion_tokens: 50,
      temperature: 0.5,
      stop: ['END'],
    })
    expect(await finished()).toMatchObject({
      endpoint: '/v1beta/models/{model}:generateContent',
      usage: { inputTokens: 10, outputTokens: 7, cachedInputTokens: 4, estimated: false },
    })
  })

  // As examples of Google's write it, and Effect's client for Google.
  it('may write one object in the place of a list', async () => {
    await upstream.script(path('gpt'), [json(200, completion({ content: 'Miau.' }))])
    const [{ name, parameters }] = declared.functionDeclarations as [(typeof declared.functionDeclarations)[0]]
    const response = await post('gpt', 'generateContent', {
      contents: { parts: { text: 'Hello' } },
      system_instruction: { parts: { text: 'Be brief.' } },
      tools: { function_declarations: { name, parameters } },
    })
    expect(response.status).toBe(200)
    expect((await lastCallOf('gpt'))?.sent).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      tools: [{ function: { name: 'f' } }],
    })
  })

  it('streams, as events and as a list', async () => {
    await upstream.script(path('gpt'), [answer()])
    const stream = await readStream(await post('gpt', 'streamGenerateContent?alt=sse', { contents }))
    const events = stream.events.map(({ data }) => JSON.parse(data))
    expect(
      events
        .map(({ candidates }) => candidates[0].content.parts.map(({ text }: { text: string }) => text).join(''))
        .join(''),
    ).toMatch(/^Hello, this is/)
    expect(events.filter(({ candidates }) => candidates[0].finishReason)).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP', content: { role: 'model', parts: [{ text: '' }] } }],
      usageMetadata: { promptTokenCount: expect.any(Number), candidatesTokenCount: expect.any(Number) },
    })
    expect(stream.text).not.toContain('[DONE]')
    const response = await post('gpt', 'streamGenerateContent', { contents }, { base: '/gemini/v1beta' })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const list = (await response.json()) as unknown[]
    expect(list).toHaveLength(events.length)
    expect(list.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
  })

  it('calls functions in parallel and gives their results', async () => {
    const calls = [call('call_a', 'f', '{"x":1}'), call('call_b', 'f', '{"x":2}')]
    await upstream.script(path('gpt'), [json(200, completion({ tool_calls: calls }, 'tool_calls'))])
    const first = await post('gpt', 'generateContent', { contents, tools: [declared] }, { base: '/v1' })
    const { candidates } = (await first.json()) as { candidates: { content: { parts: object[] } }[] }
    const content = candidates[0]?.content as { parts: object[] }
    expect(candidates).toMatchObject([{ finishReason: 'STOP' }])
    expect(content.parts).toEqual([
      { functionCall: { id: 'call_a', name: 'f', args: { x: 1 } }, thoughtSignature: expect.any(String) },
      { functionCall: { id: 'call_b', name: 'f', args: { x: 2 } } },
    ])
    const results = ['call_a', 'call_b'].map((id) => ({
      functionResponse: { id, name: 'f', response: { output: `of ${id}` } },
    }))
    const next = { contents: [...contents, content, { role: 'user', parts: results }], tools: [declared] }
    await post('gpt', 'generateContent', next)
    expect((await lastCallOf('gpt'))?.sent).toMatchObject({
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: null, tool_calls: calls },
        { role: 'tool', tool_call_id: 'call_a', content: 'of call_a' },
        { role: 'tool', tool_call_id: 'call_b', content: 'of call_b' },
      ],
      tools: [{ function: { name: 'f', parameters: { type: 'object', properties: { x: { type: 'integer' } } } } }],
    })
    // Gemini itself takes the calls of another vendor's model.
    await upstream.script(path('native'), [json(200, said([{ text: 'Done.' }], { finishReason: 'STOP' }))])
    await post('native', 'generateContent', next)
    const [, asked] = (await lastCallOf('native'))?.sent.contents ?? []
    expect(asked.parts[0].thoughtSignature).toBe('skip_thought_signature_validator')
  })

  it('shows a picture', async () => {
    await upstream.script(path('gpt'), [json(200, completion({ content: 'A cat.' }))])
    const parts = [{ text: 'What?' }, { inline_data: { mime_type: 'image/png', data: 'iVBO-_8=' } }]
    expect((await post('gpt', 'generateContent', { contents: [{ parts }] })).status).toBe(200)
    expect((await lastCallOf('gpt'))?.sent.messages[0].content[1]).toEqual({
      type: 'image_url',
      image_url: { url: 'data:image/png;base64,iVBO+/8=' },
    })
  })

  it('asks for a document of a schema', async () => {
    await upstream.script(path('gpt'), [json(200, completion({ content: '{"n":1}' }))])
    const responseSchema = { type: 'OBJECT', properties: { n: { type: 'INTEGER', nullable: true } }, required: ['n'] }
    const generationConfig = { responseMimeType: 'application/json', responseSchema }
    expect((await post('gpt', 'generateContent', { contents, generationConfig })).status).toBe(200)
    expect((await lastCallOf('gpt'))?.sent.response_format).toEqual({
      type: 'json_schema',
      json_schema: {
        name: 'output',
        strict: true,
        schema: {
          type: 'object',
          properties: { n: { type: ['integer', 'null'] } },
          required: ['n'],
          additionalProperties: false,
        },
      },
    })
  })

  it('hears of its mistakes in Google’s words', async () => {
    const refused = await post('gpt', 'generateContent', { contents, cachedContent: 'cachedContents/a' })
    expect(refused.status).toBe(400)
    const unknown = await post('nothing', 'generateContent', { contents })
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({
      error: {
        code: 404,
        status: 'NOT_FOUND',
        message: expect.stringContaining('nothing'),
        details: [{ reason: 'MODEL_NOT_FOUND' }],
      },
    })
    const search = await post('gpt', 'generateContent', { contents, tools: [{ googleSearch: {} }] })
    expect(search.status).toBe(400)
    expect(await search.json()).toMatchObject({
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo' },
          { fieldViolations: [{ field: 'tools.0.googleSearch' }] },
        ],
      },
    })
    const empty = await post('gpt', 'generateContent', { contents: [] })
    expect(await empty.json()).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } })
    const stranger = await post('gpt', 'generateContent', { contents }, { headers: {} })
    expect(stranger.status).toBe(401)
    expect(await stranger.json()).toMatchObject({ error: { status: 'UNAUTHENTICATED' } })
    const verb = await post('gpt', 'predict', { contents })
    expect([404, 405]).toContain(verb.status)
    expect(await verb.json()).toMatchObject({ error: { code: verb.status, details: expect.any(Array) } })
  })

  it('has an estimate of its tokens', async () => {
    const response = await post('gpt', 'countTokens', { contents })
    expect(response.headers.get('x-gateway-estimated')).toBe('1')
    expect(await response.json()).toEqual({ totalTokens: expect.any(Number) })
    expect(await callsOf('gpt')).not.toHaveLength(0)
  })
})

describe('a client of Gemini’s API at a provider of messages', () => {
  it('gets signed thoughts with its calls, and gives them back', async () => {
    const thought = { type: 'thinking', thinking: 'Hm – 🙂', signature: 'sig+/=' }
    const used = { type: 'tool_use', id: 'toolu_a', name: 'f', input: { x: 1 } }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-up', stop_sequence: null }
    const usage = { input_tokens: 5, output_tokens: 6 }
    await upstream.script(path('claude'), [
      json(200, { ...message, content: [thought, used], stop_reason: 'tool_use', usage }),
    ])
    const generationConfig = { thinkingConfig: { includeThoughts: true, thinkingBudget: 4000 } }
    const asked = { contents, tools: [declared], generationConfig }
    const first = (await (await post('claude', 'generateContent', asked)).json()) as {
      candidates: { content: { parts: { thoughtSignature?: string }[] } }[]
    }
    const content = first.candidates[0]?.content
    expect(content?.parts).toMatchObject([
      { text: 'Hm – 🙂', thought: true },
      {
        functionCall: { id: 'toolu_a', name: 'f', args: { x: 1 } },
        thoughtSignature: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      },
    ])
    const result = { functionResponse: { name: 'f', response: { error: 'No.' } } }
    // Clients of Python write base64 for addresses, and some leave out thoughts and ids.
    const [, made] = content?.parts ?? []
    const kept = {
      functionCall: { name: 'f', args: { x: 1 } },
      thought_signature: made?.thoughtSignature?.replaceAll('+', '-').replaceAll('/', '_'),
    }
    await post('claude', 'generateContent', {
      ...asked,
      contents: [...contents, { role: 'model', parts: [kept] }, { role: 'function', parts: [result] }],
    })
    expect((await lastCallOf('claude'))?.sent.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [thought, { type: 'tool_use', id: 'call_1_0', name: 'f' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1_0', content: '{"error":"No."}' }] },
    ])
  })

  it('streams parallel calls, each of them whole', async () => {
    const events = [
      start({ input_tokens: 10, output_tokens: 1 }),
      tool(0, 'toolu_a', 'f'),
      input(0, '{"x":'),
      input(0, '1}'),
      stop(0),
      block(1, { type: 'tool_use', id: 'toolu_b', name: 'g', input: {} }),
      stop(1),
      end('tool_use', { output_tokens: 7 }),
      last,
    ]
    await upstream.script(path('claude'), [frames(events)])
    const stream = await readStream(
      await post('claude', 'streamGenerateContent?alt=sse', { contents, tools: [declared] }),
    )
    expect(JSON.parse(stream.events.at(-1)?.data ?? '')).toMatchObject({
      candidates: [
        {
          content: {
            parts: [
              { functionCall: { id: 'toolu_a', name: 'f', args: { x: 1 } } },
              { functionCall: { id: 'toolu_b', name: 'g', args: {} } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17 },
    })
  })
})

const said = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  responseId: 'r-1',
  modelVersion: 'gemini-3-flash',
})
const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 5, thoughtsTokenCount: 7, totalTokenCount: 24 }
const event = (value: object) => `data: ${JSON.stringify(value)}\r\n\r\n`

describe('a client of Gemini’s API at Gemini', () => {
  it('is relayed byte for byte', async () => {
    const body = {
      ...said([{ text: 'Hi', thoughtSignature: 'AbC=' }], { finishReason: 'STOP' }),
      usageMetadata,
      further: 1,
    }
    await upstream.script(path('native'), [json(200, body)])
    const sent = {
      contents,
      system_instruction: { parts: [{ text: 'S' }] },
      futureField: { a: 1 },
      metadata: { team: 't' },
    }
    const response = await post('native', 'generateContent', sent)
    expect(await response.json()).toEqual(body)
    const asked = await lastCallOf('native')
    expect(asked).toMatchObject({
      path: `${path('native')}/v1beta/models/gemini-3-flash:generateContent`,
      headers: { 'x-goog-api-key': 'AIza-canary-77' },
    })
    const { metadata: _, ...relayed } = sent
    expect(asked?.sent).toEqual(relayed)
    expect(await finished()).toMatchObject({
      provider: 'gemini',
      usage: { inputTokens: 12, outputTokens: 12, reasoningTokens: 7, estimated: false },
    })
  })

  it('streams its events unchanged, and as a list', async () => {
    const events = [
      event(said([{ text: 'Hel' }])),
      event(said([{ text: 'lo' }])),
      event({ ...said([{ text: '' }], { finishReason: 'STOP' }), usageMetadata }),
    ]
    await upstream.script(path('native'), [frames(events)])
    const stream = await readStream(await post('native', 'streamGenerateContent?alt=sse', { contents }))
    expect(stream.text).toBe(events.join(''))
    expect(await lastCallOf('native')).toMatchObject({
      path: `${path('native')}/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse`,
      sent: { contents },
    })
    const list = await (await post('native', 'streamGenerateContent', { contents })).json()
    expect(list).toEqual(events.map((one) => JSON.parse(one.slice(6))))
  })

  it('counts at the provider', async () => {
    await upstream.script(path('native'), [json(200, { totalTokens: 31, promptTokensDetails: [] })])
    const response = await post('native', 'countTokens', {
      generateContentRequest: { model: 'models/native', contents },
    })
    expect(response.headers.get('x-gateway-estimated')).toBeNull()
    expect(await response.json()).toEqual({ totalTokens: 31, promptTokensDetails: [] })
    expect((await lastCallOf('native'))?.sent).toEqual({
      generateContentRequest: { model: 'models/gemini-3-flash', contents },
    })
    expect(await finished()).toMatchObject({ ending: 'answered', usage: { inputTokens: 0, outputTokens: 0 } })
  })

  it('is told no more than its model can, with the operator’s defaults', async () => {
    await upstream.script(path('capped'), [
      json(200, { ...said([{ text: 'Hi' }], { finishReason: 'STOP' }), usageMetadata }),
    ])
    const response = await post('vendor/capped', 'generateContent', {
      contents,
      generation_config: { max_output_tokens: 5000, topK: 3 },
    })
    expect(response.headers.get('x-gateway-dropped')).toBe('generationConfig.maxOutputTokens')
    expect((await lastCallOf('capped'))?.sent).toEqual({
      contents,
      generation_config: { max_output_tokens: 100, topK: 3, temperature: 0.25 },
    })
  })

  it('cannot read files of the operator’s account, nor choose other models', async () => {
    const fileUri = 'https://generativelanguage.googleapis.com/v1beta/files/abc'
    const file = await post('native', 'generateContent', {
      contents: [{ parts: [{ file_data: { file_uri: fileUri } }] }],
    })
    expect(file.status).toBe(400)
    expect(await file.json()).toMatchObject({ error: { message: expect.stringContaining('allow_cloud_objects') } })
    const routed = await post('native', 'generateContent', {
      contents,
      generationConfig: { routingConfig: { autoMode: {} } },
    })
    expect(routed.status).toBe(400)
  })

  it('gets a blocked prompt as feedback, unless a fallback takes it', async () => {
    const blocked = json(200, { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: {} })
    await upstream.script(path('native'), [blocked])
    const response = await post('native', 'generateContent', { contents })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })
    const stream = await readStream(await post('native', 'streamGenerateContent?alt=sse', { contents }))
    expect(JSON.parse(stream.events[0]?.data ?? '')).toMatchObject({
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    })
    await upstream.script(path('guarded'), [blocked])
    await upstream.script(path('safe'), [json(200, completion({ content: 'Fine.' }))])
    const taken = await post('guarded', 'generateContent', { contents })
    expect(await taken.json()).toMatchObject({ candidates: [{ content: { parts: [{ text: 'Fine.' }] } }] })
  })

  it('gets the rest of a cut answer from another deployment', async () => {
    const pieces = [
      event(said([{ text: 'Once upon ' }])),
      event(said([{ text: 'a time' }])),
      event(said([{ text: '!' }])),
    ]
    const cut = frames(pieces, {}, cutAfter({ frames: 2 }))
    await upstream.script(path('pair-a'), [cut])
    await upstream.script(path('pair-b'), [answer({ text: ' there was.' })])
    const stream = await readStream(await post('pair', 'streamGenerateContent?alt=sse', { contents }))
    const events = stream.events.map(({ data }) => JSON.parse(data))
    expect(
      events
        .flatMap(({ candidates }) => candidates[0].content.parts)
        .map(({ text }) => text)
        .join(''),
    ).toBe('Once upon a time there was.')
    expect(events.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], responseId: 'r-1' })
  })
})

describe('embeddings for clients of Gemini’s API', () => {
  it('come from any provider, with hints left out', async () => {
    await upstream.script(path('embed'), [
      json(200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.1, -0.25] }],
        model: 'text-embedding-3-small',
        usage: { prompt_tokens: 2, total_tokens: 2 },
      }),
    ])
    const asked = {
      model: 'models/embed',
      content: { parts: [{ text: 'Hi ' }, { text: 'there' }] },
      taskType: 'RETRIEVAL_QUERY',
      outputDimensionality: 2,
    }
    const response = await post('embed', 'embedContent', asked)
    expect(response.headers.get('x-gateway-dropped')).toBe('task_type')
    expect(await response.json()).toEqual({
      embedding: { values: [0.1, -0.25] },
      usageMetadata: { promptTokenCount: 2 },
    })
    expect((await lastCallOf('embed'))?.sent).toEqual({
      model: 'text-embedding-3-small',
      input: ['Hi there'],
      dimensions: 2,
    })
  })

  it('come from Gemini, several at once', async () => {
    await upstream.script(path('google'), [json(200, { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] })])
    const request = (text: string) => ({
      model: 'models/google',
      content: { parts: [{ text }] },
      taskType: 'CLUSTERING',
    })
    const response = await post('google', 'batchEmbedContents', { requests: [request('a'), request('b')] })
    expect(await response.json()).toMatchObject({ embeddings: [{ values: [1, 2] }, { values: [3, 4] }] })
    expect((await lastCallOf('google'))?.sent.requests).toMatchObject([
      { model: 'models/gemini-embedding-001', content: { parts: [{ text: 'a' }] }, taskType: 'CLUSTERING' },
      { content: { parts: [{ text: 'b' }] } },
    ])
    const mixed = await post('google', 'batchEmbedContents', {
      requests: [request('a'), { ...request('b'), taskType: 'FACT_VERIFICATION' }],
    })
    expect(mixed.status).toBe(400)
  })
})

describe('models for clients of Gemini’s API', () => {
  const get = (address: string, headers: Record<string, string> = { 'x-goog-api-key': MASTER_KEY }) =>
    gateway.fetch(address, { headers: { authorization: '', ...headers } })

  it('are listed by pages, and one by one', async () => {
    const { models, nextPageToken } = (await (await get('/v1beta/models?pageSize=2')).json()) as {
      models: { name: string }[]
      nextPageToken: string
    }
    expect(models).toHaveLength(2)
    expect(models[0]).toMatchObject({
      name: expect.stringMatching(/^models\//),
      supportedGenerationMethods: expect.arrayContaining(['generateContent']),
    })
    const rest = (await (await get(`/v1beta/models?pageToken=${nextPageToken}`)).json()) as {
      models: { name: string }[]
    }
    expect(rest).not.toHaveProperty('nextPageToken')
    expect([...models, ...rest.models].map(({ name }) => name)).toContain('models/vendor/capped')
    expect(await (await get('/v1beta/models/vendor/capped')).json()).toMatchObject({
      name: 'models/vendor/capped',
      outputTokenLimit: 100,
    })
    const unknown = await get('/gemini/v1beta/models/nothing')
    expect(await unknown.json()).toMatchObject({ error: { status: 'NOT_FOUND' } })
  })

  it('are the same below /v1, where its newest clients ask', async () => {
    for (const path of ['/models?pageSize=2', '/models/vendor/capped', '/models/nothing']) {
      const [newest, older] = await Promise.all([get(`/v1${path}`), get(`/v1beta${path}`)])
      expect([newest.status, await newest.json()]).toEqual([older.status, await older.json()])
    }
    for (const wrong of ['pageSize=-1', 'pageToken=x']) expect((await get(`/v1/models?${wrong}`)).status).toBe(400)
  })

  it('are open to a key in the address, which nothing repeats', async () => {
    const key = 'sk-query-canary-4711'
    const refused = await gateway.fetch(`/v1beta/models/gpt:generateContent?key=${key}`, {
      method: 'POST',
      headers: { authorization: '', 'content-type': 'application/json' },
      body: JSON.stringify({ contents }),
    })
    expect(refused.status).toBe(401)
    expect(await refused.text()).not.toContain(key)
    const wrong = await get(`/v1beta/models?key=${key}&pageSize=x`, {})
    expect(await wrong.text()).not.toContain(key)
    expect((await get(`/v1beta/nothing?key=${key}`, {})).status).toBe(404)
    expect((await get(`/v1beta/models?key=${MASTER_KEY}`, {})).status).toBe(200)
    await upstream.script(path('gpt'), [json(200, completion({ content: 'Hi' }))])
    const response = await post(`gpt`, `generateContent?key=${MASTER_KEY}`, { contents }, { headers: {} })
    expect(response.status).toBe(200)
    await response.text()
    await gateway.idle()
    const metrics = await (await get('/metrics', { authorization: `Bearer ${MASTER_KEY}` })).text()
    expect(metrics).toContain('/v1beta/models/{model}:generateContent')
    const seen = JSON.stringify([gateway.logs, await callsOf('gpt'), [...response.headers]]) + metrics
    expect(seen).not.toContain(key)
    expect(seen).not.toContain(MASTER_KEY)
  })
})
