import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../support/gateway.ts'
import { readStream } from '../support/sse.ts'
import { frames, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const decoder = new TextDecoder()
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/gemini-${run}-${name}`
const messages = [{ role: 'user', content: 'Hello' }]
const tools = [{ type: 'function', function: { name: 'time', parameters: { type: 'object' } } }]
const NAMES = ['first', 'second', 'safe', 'embed', 'media']

const gateway = withGateway(() => {
  const entries = NAMES.map(
    (name) => `  - model_name: ${name}
    deployment_id: ${name}
    gateway_params: { model: gemini/gemini-3-flash, api_base: "${upstream.url}${path(name)}", api_key: AIza-canary-5 }
`,
  )
  return `
router_settings: { cooldown_time: 60, allowed_fails: 0 }
gateway_settings:
  content_policy_fallbacks: [{ first: [safe] }]
  fallbacks: [{ media: [embed] }]
model_list:
${entries.join('')}`
})

const answered = { responseId: 'r-1', modelVersion: 'gemini-3-flash' }
const usageMetadata = {
  promptTokenCount: 12,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 7,
  cachedContentTokenCount: 4,
}
const says = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  ...answered,
})
const event = (value: object) => `data: ${JSON.stringify(value)}\r\n\r\n`
const callsOf = async (name: string) =>
  (await upstream.calls(path(name))).map((call) => ({ ...call, sent: JSON.parse(decoder.decode(call.body)) }))
const finished = async () => {
  await gateway.idle()
  return gateway.logs.findLast((line) => line.event === 'call.finished')
}

describe('Gemini', () => {
  it('answers a chat, and is billed for its thoughts', async () => {
    const body = {
      ...says([{ text: 'Hm.', thought: true }, { text: 'Hi 🙂' }], { finishReason: 'STOP' }),
      usageMetadata,
    }
    await upstream.script(path('first'), [json(200, body)])
    const response = await gateway.chat({ model: 'first', messages, reasoning_effort: 'low' })
    expect(response.status).toBe(200)
    const answer = (await response.json()) as { created: number }
    expect(answer).toMatchObject({
      id: 'chatcmpl-r-1',
      object: 'chat.completion',
      model: 'gemini-3-flash',
      choices: [{ index: 0, message: { content: 'Hi 🙂', reasoning_content: 'Hm.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 12, total_tokens: 24 },
    })
    expect(answer.created).toBeGreaterThan(1_700_000_000)
    const [call] = await callsOf('first')
    expect(call).toMatchObject({
      path: `${path('first')}/v1beta/models/gemini-3-flash:generateContent`,
      headers: { 'x-goog-api-key': 'AIza-canary-5' },
      sent: { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' } } },
    })
    expect(call?.headers).not.toHaveProperty('authorization')
    expect(await finished()).toMatchObject({
      ending: 'answered',
      usage: { inputTokens: 12, outputTokens: 12, cachedInputTokens: 4, reasoningTokens: 7, estimated: false },
    })
  })

  it('streams parallel calls, and takes them back with its signature', async () => {
    await upstream.script(path('first'), [
      frames([
        event(says([{ text: 'Both.', thought: true }])),
        event(
          says([
            { functionCall: { id: 'f-1', name: 'time', args: { in: 'UTC' } }, thoughtSignature: 'c2ln' },
            { functionCall: { id: 'f-2', name: 'time', args: {} } },
          ]),
        ),
        event({ ...says([{ text: '' }], { finishReason: 'STOP' }), usageMetadata }),
      ]),
    ])
    const stream = await readStream(await gateway.chat({ model: 'first', messages, tools, stream: true }))
    expect(stream.events.at(-1)?.data).toBe('[DONE]')
    const deltas = stream.events.slice(0, -1).map(({ data }) => JSON.parse(data).choices[0])
    expect(deltas.map(({ delta }) => delta.reasoning_content).join('')).toBe('Both.')
    const tool_calls = deltas.flatMap(({ delta }) => delta.tool_calls ?? []).map(({ index: _, ...call }) => call)
    expect(tool_calls).toEqual([
      {
        id: 'f-1',
        type: 'function',
        function: { name: 'time', arguments: '{"in":"UTC"}' },
        extra_content: { google: { thought_signature: 'c2ln' } },
      },
      { id: 'f-2', type: 'function', function: { name: 'time', arguments: '{}' } },
    ])
    expect(deltas.at(-1)).toEqual({ index: 0, delta: {}, finish_reason: 'tool_calls' })
    expect(await finished()).toMatchObject({ ending: 'answered', usage: { inputTokens: 12, outputTokens: 12 } })

    const body = { ...says([{ text: 'Noon.' }], { finishReason: 'STOP' }), usageMetadata }
    await upstream.script(path('first'), [json(200, body)])
    const results = ['f-1', 'f-2'].map((tool_call_id) => ({ role: 'tool', tool_call_id, content: 'noon' }))
    const turn = [...messages, { role: 'assistant', content: null, tool_calls }, ...results]
    expect((await gateway.chat({ model: 'first', messages: turn, tools })).status).toBe(200)
    expect((await callsOf('first')).at(-1)?.sent.contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'f-1', name: 'time', args: { in: 'UTC' } }, thoughtSignature: 'c2ln' },
          { functionCall: { id: 'f-2', name: 'time', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: ['f-1', 'f-2'].map((id) => ({
          functionResponse: { id, name: 'time', response: { output: 'noon' } },
        })),
      },
    ])
  })

  it('gets its signature back from a client of another dialect', async () => {
    const parts = [
      { text: 'Both.', thought: true },
      { functionCall: { id: 'f-1', name: 'time', args: {} }, thoughtSignature: 'c2ln' },
    ]
    const whole = json(200, says(parts, { finishReason: 'STOP' }))
    await upstream.script(path('first'), [whole, whole])
    const asked = { model: 'first', max_tokens: 50, tools: [{ name: 'time', input_schema: { type: 'object' } }] }
    const first = await gateway.fetch('/v1/messages', chatInit({ ...asked, messages }))
    const { content, stop_reason } = (await first.json()) as { content: object[]; stop_reason: string }
    expect(stop_reason).toBe('tool_use')
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Both.', signature: 'gemini:c2ln' },
      { type: 'tool_use', id: 'f-1', name: 'time', input: {}, caller: { type: 'direct' } },
    ])
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'f-1', content: 'noon' }] }
    const turn = [...messages, { role: 'assistant', content }, result]
    expect((await gateway.fetch('/v1/messages', chatInit({ ...asked, messages: turn }))).status).toBe(200)
    expect((await callsOf('first')).at(-1)?.sent.contents[1].parts).toEqual([
      { functionCall: { id: 'f-1', name: 'time', args: {} }, thoughtSignature: 'c2ln' },
    ])
  })

  it('that cannot read a signature, such as one of Vertex’s, is asked once more without it', async () => {
    const corrupted = { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' }
    const refusal = json(400, { error: corrupted })
    const whole = json(200, says([{ text: 'Noon.' }], { finishReason: 'STOP' }))
    const call = { functionCall: { id: 'f-1', name: 'time', args: { of: '"thoughtSignature":"x"' } } }
    const contents = [
      { role: 'user', parts: [{ text: 'Hello' }] },
      { role: 'model', parts: [{ ...call, thoughtSignature: 'dmVydGV4' }] },
      { role: 'user', parts: [{ functionResponse: { id: 'f-1', name: 'time', response: { output: 'noon' } } }] },
    ]
    const native = () => gateway.fetch('/v1beta/models/first:generateContent', chatInit({ contents }))
    const { args, ...called } = call.functionCall
    const made = { type: 'function', id: called.id, function: { name: called.name, arguments: JSON.stringify(args) } }
    const signed = { ...made, extra_content: { google: { thought_signature: 'dmVydGV4' } } }
    const turns = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [signed] },
      { role: 'tool', tool_call_id: 'f-1', content: 'noon' },
    ]
    const chat = () => gateway.chat({ model: 'first', messages: turns, tools })
    for (const ask of [native, chat]) {
      const before = (await callsOf('first')).length
      await upstream.script(path('first'), [refusal, whole])
      const response = await ask()
      expect([response.status, response.headers.get('x-gateway-attempts')]).toEqual([200, '1'])
      const parts = (await callsOf('first')).slice(before).map(({ sent }) => sent.contents[1].parts)
      expect(parts).toEqual([
        [{ ...call, thoughtSignature: 'dmVydGV4' }],
        [{ ...call, thoughtSignature: 'skip_thought_signature_validator' }],
      ])
      await upstream.script(path('first'), [refusal, refusal, whole])
      expect((await ask()).status).toBe(400)
    }
  })

  it('shows the usage of a stream to whoever asked', async () => {
    await upstream.script(path('first'), [
      frames([event({ ...says([{ text: 'Hi' }], { finishReason: 'STOP' }), usageMetadata })]),
    ])
    const asked = { model: 'first', messages, stream: true, stream_options: { include_usage: true } }
    const stream = await readStream(await gateway.chat(asked))
    expect(JSON.parse(stream.events.at(-2)?.data ?? '')).toMatchObject({ choices: [], usage: { total_tokens: 24 } })
  })

  it('cannot be asked what it has no words for: 400 before it is asked, and no fault of the deployment', async () => {
    await upstream.script(path('first'), [json(200, says([{ text: 'Hi' }], { finishReason: 'STOP' }))])
    const before = (await callsOf('first')).length
    const response = await gateway.chat({ model: 'first', messages, logit_bias: { 5: 1 } })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'logit_bias' } })
    expect(await callsOf('first')).toHaveLength(before)
    expect((await gateway.chat({ model: 'first', messages })).status).toBe(200)
  })

  it('that blocks an answer hands over to the chain of content policy', async () => {
    await upstream.script(path('first'), [json(200, { candidates: [{ finishReason: 'SAFETY' }], ...answered })])
    await upstream.script(path('safe'), [json(200, says([{ text: 'Safely.' }], { finishReason: 'STOP' }))])
    const response = await gateway.chat({ model: 'first', messages })
    expect(response.headers.get('x-gateway-deployment')).toBe('safe')
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Safely.' } }] })
  })

  it('that refuses the key is the operator’s trouble, and one that limits says for how long', async () => {
    const status = (code: number, name: string, detail: object) => ({
      error: { code, message: 'Words of theirs.', status: name, details: [detail] },
    })
    await upstream.script(path('second'), [json(400, status(400, 'INVALID_ARGUMENT', { reason: 'API_KEY_INVALID' }))])
    const refused = await gateway.chat({ model: 'second', messages })
    expect(refused.status).toBe(502)
    expect(await refused.text()).not.toContain('AIza-canary')
    await upstream.script(path('safe'), [
      json(429, status(429, 'RESOURCE_EXHAUSTED', { '@type': 'x/google.rpc.RetryInfo', retryDelay: '17s' })),
    ])
    const limited = await gateway.chat({ model: 'safe', messages })
    expect(limited.status).toBe(429)
    expect(limited.headers.get('retry-after')).toBe('17')
    expect(JSON.stringify(gateway.logs)).not.toContain('AIza-canary')
  })

  it('embeds', async () => {
    await upstream.script(path('embed'), [json(200, { embeddings: [{ values: [0.5, -1] }] })])
    const init = chatInit({ model: 'embed', input: 'Eight characters', encoding_format: 'base64' })
    const response = await gateway.fetch('/v1/embeddings', init)
    expect(await response.json()).toMatchObject({ data: [{ embedding: 'AAAAPwAAgL8=' }], usage: { prompt_tokens: 4 } })
    expect(await finished()).toMatchObject({ usage: { inputTokens: 4, estimated: true } })
  })
})

describe('images and speech of Gemini', () => {
  it('are made of the files of a form, again after a failure', async () => {
    const picture = (byte: number) => new Blob([new Uint8Array(70_000).fill(byte)], { type: 'image/png' })
    const made = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
    const failed = json(503, { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } })
    const answer = { ...says([made], { finishReason: 'STOP' }), usageMetadata }
    await upstream.script(path('media'), [failed])
    await upstream.script(path('embed'), [json(200, answer)])
    const body = new FormData()
    body.append('image[]', picture(1), 'a.png')
    body.append('image[]', new Blob(['webp']), 'b.webp')
    for (const [name, value] of Object.entries({
      model: 'media',
      prompt: 'A hat.',
      size: '1536x1024',
      quality: 'low',
    })) {
      body.append(name, value)
    }
    const response = await gateway.fetch('/v1/images/edits', { method: 'POST', body })
    expect(await response.json()).toMatchObject({ created: expect.any(Number), data: [{ b64_json: 'AAAA' }] })
    expect(response.headers.get('x-gateway-dropped')).toBe('quality')
    expect(response.headers.get('x-gateway-deployment')).toBe('embed')
    const [text, first, second] = (await callsOf('embed')).at(-1)?.sent.contents[0].parts ?? []
    expect(text).toEqual({ text: 'A hat.' })
    expect(first.inlineData.mimeType).toBe('image/png')
    expect(atob(first.inlineData.data)).toBe('\u0001'.repeat(70_000))
    expect(second.inlineData).toEqual({ mimeType: 'image/webp', data: btoa('webp') })
    expect(await finished()).toMatchObject({ mode: 'image_generation', usage: { images: 1, outputTokens: 12 } })
  })

  it('are a file of sound, billed by its tokens', async () => {
    const sound = { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: btoa('\u0001\u0000\u0002\u0000') } }
    await upstream.script(path('embed'), [json(200, { ...says([sound], { finishReason: 'STOP' }), usageMetadata })])
    const response = await gateway.fetch('/v1/audio/speech', chatInit({ model: 'embed', input: 'Hi', voice: 'Kore' }))
    expect(response.headers.get('content-type')).toBe('audio/wav')
    const file = new Uint8Array(await response.arrayBuffer())
    expect([decoder.decode(file.subarray(0, 4)), ...file.subarray(44)]).toEqual(['RIFF', 1, 0, 2, 0])
    expect(await finished()).toMatchObject({ mode: 'audio_speech', usage: { characters: 2, outputTokens: 12 } })
  })
})
