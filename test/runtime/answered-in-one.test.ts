import { describe, expect, inject, it } from 'vitest'
import { configuration } from '../support/configuration.ts'
import { chatInit } from '../support/gateway.ts'
import { openaiClient } from '../support/openai-client.ts'
import { readStream } from '../support/sse.ts'
import { json, raw } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/in-one-${run}-${name}`
const messages = [{ role: 'user' as const, content: 'Count.' }]

/** Each has a twin that would answer, so that a second attempt is seen. */
const KINDS = {
  chat: 'openai-compatible',
  claude: 'anthropic',
  native: 'openai',
  gemini: 'gemini',
  scribe: 'elevenlabs',
  llama: 'bedrock',
}

const gateway = withGateway(() =>
  configuration({
    router_settings: { num_retries: 2, retry_after: 0.01, cooldown_time: 60, allowed_fails: 0 },
    model_list: Object.entries(KINDS).map(([name, kind]) => ({
      model_name: name,
      deployment_id: `up-${name}`,
      gateway_params: {
        model: `${kind}/there`,
        api_base: upstream.url + path(name),
        api_key: 'sk-canary-77',
        region: 'eu-1',
      },
    })),
  }),
)

const untouched = async (name: string, calls: number) => {
  await gateway.idle()
  const [signals] = await gateway.store.signals([`up-${name}`])
  expect(signals).toMatchObject({ failures: 0, cooledUntil: 0, active: 0 })
  expect(await upstream.calls(path(name))).toHaveLength(calls)
}
const lastLine = () => gateway.logs.findLast(({ event }) => event === 'call.finished')

const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Zürich"}' } }
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'there-1',
  system_fingerprint: 'fp_1',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Grüße 🙂', reasoning_content: 'Hm', tool_calls: [call] },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
}

it('a model of Bedrock that does not stream beside tools is asked for the whole answer, and at once from then on', async () => {
  const message = "This model doesn't support tool use in streaming mode."
  const toolUse = { toolUseId: 'call_1', name: 'weather', input: { city: 'Zürich' } }
  const usage = { inputTokens: 9, outputTokens: 5, totalTokens: 14 }
  const answer = { output: { message: { role: 'assistant', content: [{ toolUse }] } }, stopReason: 'tool_use', usage }
  await upstream.script(path('llama'), [json(400, { message }), json(200, answer), json(200, answer)])
  const tools = [{ type: 'function' as const, function: { name: 'weather' } }]
  for (let times = 0; times < 2; times++) {
    const stream = openaiClient(gateway).chat.completions.stream({ model: 'llama', messages, tools })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [call] } })
  }
  const asked = (await upstream.calls(path('llama'))).map((one) => one.path.split('/').at(-1))
  expect(asked).toEqual(['converse-stream', 'converse', 'converse'])
  await untouched('llama', 3)
  expect(lastLine()).toMatchObject({ usage: { inputTokens: 9, outputTokens: 5 }, attempts: 1, streamed: true })
})

describe('a provider that answers a stream in one, as', () => {
  it('a chat completion: its client gets the stream', async () => {
    await upstream.script(path('chat'), [json(200, completion)])
    const body = { model: 'chat', messages, stream: true as const, stream_options: { include_usage: true } }
    const chunks = []
    for await (const chunk of await openaiClient(gateway).chat.completions.create(body)) chunks.push(chunk)
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('Grüße 🙂')
    expect(deltas.flatMap(({ tool_calls = [] }) => tool_calls)).toEqual([{ index: 0, ...call }])
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['tool_calls'])
    expect(chunks.at(-1)?.usage).toMatchObject({ total_tokens: 14 })
    expect(chunks[0]).toMatchObject({ id: 'chatcmpl-1', object: 'chat.completion.chunk', system_fingerprint: 'fp_1' })
    await untouched('chat', 1)
    expect(lastLine()).toMatchObject({ usage: { inputTokens: 9, outputTokens: 5 }, attempts: 1 })
  })

  it('a chat completion: the usage only for who asked, and the proper end', async () => {
    const stream = await readStream(await gateway.chat({ model: 'chat', messages, stream: true }))
    expect(stream.text).not.toContain('total_tokens')
    expect(stream.text.match(/\[DONE\]/g)).toHaveLength(1)
  })

  it('a chat completion, in the other dialects', async () => {
    const said = await readStream(
      await gateway.fetch('/v1/messages', chatInit({ model: 'chat', messages, stream: true, max_tokens: 9 })),
    )
    const events = said.events.map(({ data }) => JSON.parse(data))
    expect(
      events.filter(({ type }) => type === 'content_block_start').map(({ content_block }) => content_block.type),
    ).toEqual(['thinking', 'text', 'tool_use'])
    expect(events.at(-1)).toMatchObject({ type: 'message_stop' })
    const response = openaiClient(gateway).responses.stream({ model: 'chat', input: 'Count.' })
    expect(await response.finalResponse()).toMatchObject({ status: 'completed', output_text: 'Grüße 🙂' })
  })

  it('a message of its own words', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
      { type: 'text', text: 'Grüße 🙂' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Zürich' } },
    ]
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'there-1',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 5 },
    }
    await upstream.script(path('claude'), [json(200, message)])
    const said = await readStream(
      await gateway.fetch('/v1/messages', chatInit({ model: 'claude', messages, stream: true, max_tokens: 9 })),
    )
    const events = said.events.map(({ data }) => JSON.parse(data))
    expect(said.events.map(({ event }) => event)).toEqual(events.map(({ type }) => type))
    const deltas = events
      .filter(({ type }) => type === 'content_block_delta')
      .map(({ index, delta }) => ({ index, ...delta }))
    expect(deltas).toEqual([
      { index: 0, type: 'thinking_delta', thinking: 'Hm' },
      { index: 0, type: 'signature_delta', signature: 'c2ln' },
      { index: 1, type: 'text_delta', text: 'Grüße 🙂' },
      { index: 2, type: 'input_json_delta', partial_json: '{"city":"Zürich"}' },
    ])
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', delta: { stop_reason: 'tool_use' } })
    expect(events.at(-1)).toEqual({ type: 'message_stop' })
    await untouched('claude', 1)
    expect(lastLine()).toMatchObject({ usage: { inputTokens: 9, outputTokens: 5 } })
  })

  it('a response of its own words', async () => {
    const item = {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Grüße 🙂', annotations: [] }],
    }
    const called = {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'call_1',
      name: 'f',
      arguments: '{}',
    }
    const whole = {
      id: `resp_one_${run}`,
      object: 'response',
      created_at: 1_760_000_000,
      status: 'completed',
      model: 'there-1',
      output: [item, called],
      error: null,
      usage: { input_tokens: 9, output_tokens: 5, total_tokens: 14 },
    }
    await upstream.script(path('native'), [json(200, whole)])
    const stream = openaiClient(gateway).responses.stream({ model: 'native', input: 'Count.' })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(await stream.finalResponse()).toMatchObject({ output_text: 'Grüße 🙂', output: [item, called] })
    expect(types[0]).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')
    await untouched('native', 1)
    expect(lastLine()).toMatchObject({ usage: { inputTokens: 9, outputTokens: 5 } })
  })

  it('an answer of another shape', async () => {
    const answered = {
      responseId: 'r1',
      modelVersion: 'there-1',
      candidates: [{ content: { parts: [{ text: 'Grüße 🙂' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
    }
    await upstream.script(path('gemini'), [json(200, answered)])
    const stream = await readStream(await gateway.chat({ model: 'gemini', messages, stream: true }))
    expect(stream.text).toContain('Grüße 🙂')
    expect(stream.events.at(-1)?.data).toBe('[DONE]')
    await untouched('gemini', 1)
  })

  it('pictures', async () => {
    const before = (await upstream.calls(path('native'))).length
    await upstream.script(path('native'), [json(200, { created: 1, size: '1024x1024', data: [{ b64_json: 'aaaa' }] })])
    const body = { model: 'native', prompt: 'A cat', stream: true as const }
    const events = []
    for await (const event of await openaiClient(gateway).images.generate(body)) events.push(event)
    const unsaid = { background: 'auto', quality: 'auto', output_format: 'png' }
    const completed = { type: 'image_generation.completed', created_at: 1, b64_json: 'aaaa' }
    expect(events).toEqual([{ ...completed, ...unsaid, size: '1024x1024' }])
    await untouched('native', before + 1)
    expect(lastLine()).toMatchObject({ usage: { images: 1 } })
  })

  it('a picture of another shape, whose vendor has no streams of them', async () => {
    const inlineData = { mimeType: 'image/webp', data: 'aaaa' }
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 1120 }
    await upstream.script(path('gemini'), [
      json(200, { candidates: [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }], usageMetadata }),
    ])
    const body = { model: 'gemini', prompt: 'A hat', image: new File(['PNG'], 'a.png'), stream: true as const }
    const events = []
    for await (const event of await openaiClient(gateway).images.edit(body)) events.push(event)
    expect(events).toMatchObject([
      {
        type: 'image_edit.completed',
        ...{ b64_json: 'aaaa', output_format: 'webp', background: 'auto', quality: 'auto', size: 'auto' },
        usage: { output_tokens: 1120, input_tokens_details: { text_tokens: 9, image_tokens: 0 } },
      },
    ])
    await gateway.idle()
    expect(lastLine()).toMatchObject({ usage: { images: 1, outputTokens: 1120 } })
  })

  it.each([
    ['is told as a stream', 'json', json(200, { text: 'Hello', usage: { type: 'duration', seconds: 7 } }), 200],
    ['of plain words cannot be', 'text', raw(200, 'Hello', { 'content-type': 'text/plain' }), 400],
  ])('a transcription, which %s', async (_, response_format, behaviour, status) => {
    const before = (await upstream.calls(path('chat'))).length
    await upstream.script(path('chat'), [behaviour])
    const form = new FormData()
    form.set('model', 'chat')
    form.set('stream', 'true')
    form.set('response_format', response_format)
    form.set('file', new File(['sound'], 'a.wav'))
    const response = await gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body: form })
    expect(response.status).toBe(status)
    const said = await response.text()
    if (status === 200) {
      expect(said).toContain('event: transcript.text.done\ndata: {"type":"transcript.text.done","text":"Hello"')
    } else expect(JSON.parse(said)).toMatchObject({ error: { param: 'stream', code: 'stream_not_supported' } })
    await untouched('chat', before + 1)
  })

  it('an error, which stays one', async () => {
    const before = (await upstream.calls(path('claude'))).length
    await upstream.script(path('claude'), [
      json(200, { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long' } }),
    ])
    const body = { model: 'claude', messages, stream: true, max_tokens: 9 }
    expect((await gateway.fetch('/v1/messages', chatInit(body))).status).toBe(400)
    await untouched('claude', before + 1)
  })
})

it('a model that has no streams is not asked for one', async () => {
  const form = new FormData()
  form.set('model', 'scribe')
  form.set('stream', 'true')
  form.set('file', new File(['sound'], 'a.wav'))
  const refused = await gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body: form })
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: 'stream' } }])
  const embedded = await gateway.fetch('/v1/embeddings', chatInit({ model: 'chat', input: 'Hi', stream: true }))
  expect([embedded.status, await embedded.json()]).toMatchObject([400, { error: { param: 'stream' } }])
  await untouched('scribe', 0)
})

it('an answer that is larger than the gateway holds is its client’s to make smaller, and blames nobody', async () => {
  const before = (await upstream.calls(path('chat'))).length
  const piece = 'x'.repeat(2 ** 20)
  const huge = { kind: 'raw' as const, status: 200, headers: { 'content-type': 'application/json' } }
  await upstream.script(path('chat'), [{ say: { ...huge, pieces: new Array(66).fill(piece) }, changes: [] }])
  const response = await gateway.chat({ model: 'chat', messages })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { type: 'invalid_request_error', code: 'answer_too_large' } },
  ])
  await untouched('chat', before + 1)
})
