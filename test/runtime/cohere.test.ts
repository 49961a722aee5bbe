import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../support/gateway.ts'
import { chunksOf, readStream, spokenText } from '../support/sse.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { frames, json, recut } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/cohere-${run}-${name}`
const messages = [{ role: 'user', content: 'Hello' }]
const usage = { billed_units: { input_tokens: 5, output_tokens: 3 }, tokens: { input_tokens: 99, output_tokens: 9 } }

const gateway = withGateway(() => {
  const entries = [
    ['cohere', 'chat'],
    ['cohere', 'other'],
    ['cohere', 'rank'],
    ['voyage', 'vectors'],
    ['voyage', 'order'],
    ['jina', 'jina'],
  ].map(
    ([kind, name]) => `  - model_name: ${name}
    deployment_id: ${name}
    gateway_params: { model: ${kind}/up-${name}, api_base: "${upstream.url}${path(name as string)}", api_key: sk-canary-4411 }
`,
  )
  const fallbacks = 'gateway_settings:\n  fallbacks:\n    - chat: [other]\n'
  return `${fallbacks}router_settings: { num_retries: 0, cooldown_time: 0 }\nmodel_list:\n${entries.join('')}`
})

const post = (to: string, body: unknown) => gateway.fetch(to, chatInit(body))
const finished = async () => {
  await gateway.idle()
  return gateway.logs.filter(({ event }) => event === 'call.finished').at(-1)
}
const event = (type: string, value: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`
const message = (type: string, index: number, inside: object) => event(type, { index, delta: { message: inside } })

describe('chat with Cohere', () => {
  it('answers whole', async () => {
    const answer = { role: 'assistant', content: [{ type: 'text', text: 'Grüße' }] }
    await upstream.script(path('chat'), [json(200, { id: 'c1', finish_reason: 'COMPLETE', message: answer, usage })])
    const response = await gateway.chat({ model: 'chat', messages, max_tokens: 9 })
    const completion = (await response.json()) as { created: number }
    expect(completion).toMatchObject({
      id: 'c1',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Grüße' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    })
    expect(Math.abs(completion.created - Date.now() / 1000)).toBeLessThan(60)
    const call = (await upstream.calls(path('chat'))).at(-1)
    expect(call?.path).toBe(`${path('chat')}/v2/chat`)
    expect(call?.headers.authorization).toBe('Bearer sk-canary-4411')
    expect(call && bodyOf(call)).toEqual({ model: 'up-chat', messages, max_tokens: 9, stream: false })
    expect(await finished()).toMatchObject({
      provider: 'cohere',
      usage: { inputTokens: 5, outputTokens: 3, estimated: false },
    })
  })

  it('streams parallel tool calls, wherever the bytes are cut', async () => {
    const call = (index: number, id: string, name: string) =>
      message('tool-call-start', index, { tool_calls: { id, type: 'function', function: { name, arguments: '' } } })
    const more = (index: number, text: string) =>
      message('tool-call-delta', index, { tool_calls: { function: { arguments: text } } })
    const events = [
      event('message-start', { id: 'c2', delta: { message: { role: 'assistant' } } }),
      message('content-delta', 0, { content: { text: 'Grüße 🙂' } }),
      call(0, 'a', 'weather'),
      call(1, 'b', 'time'),
      more(0, '{"city":'),
      more(1, '{}'),
      more(0, '"Zürich"}'),
      event('message-end', { delta: { finish_reason: 'TOOL_CALL', usage } }),
    ]
    for (const cut of [{ every: 1 }, { every: 1000 }, { seed: 3 }]) {
      await upstream.script(path('chat'), [frames(events, {}, recut(cut))])
      const received = await readStream(await gateway.chat({ model: 'chat', messages, stream: true }))
      expect(spokenText(received)).toBe('Grüße 🙂')
      expect(received.events.at(-1)?.data).toBe('[DONE]')
      const deltas = chunksOf(received).flatMap((chunk) => (chunk as { choices: { delta: object }[] }).choices)
      expect(deltas).toContainEqual({
        index: 0,
        delta: { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'time', arguments: '' } }] },
        finish_reason: null,
      })
      expect(deltas.at(-1)).toEqual({ index: 0, delta: {}, finish_reason: 'tool_calls' })
      expect(received.text).not.toContain('"usage"')
      expect(await finished()).toMatchObject({ ending: 'answered', usage: { inputTokens: 5, outputTokens: 3 } })
    }
  })

  it('fails over from a stream that fails before its first word', async () => {
    const end = event('message-end', { delta: { finish_reason: 'ERROR', error: 'x' } })
    await upstream.script(path('chat'), [frames([event('message-start', { id: 'c3' }), end])])
    const words = [
      event('message-start', { id: 'c4' }),
      message('content-delta', 0, { content: { text: 'There' } }),
      event('message-end', { delta: { finish_reason: 'COMPLETE', usage } }),
    ]
    await upstream.script(path('other'), [frames(words)])
    const response = await gateway.chat({ model: 'chat', messages, stream: true })
    expect(response.headers.get('x-gateway-deployment')).toBe('other')
    expect(spokenText(await readStream(response))).toBe('There')
  })

  it('tells a mistake in its words, and refuses what it cannot be told without asking anybody', async () => {
    await upstream.script(path('chat'), [json(422, { message: 'invalid request: p must be below 1' })])
    const rejected = await gateway.chat({ model: 'chat', messages, top_p: 2 })
    expect(rejected.status).toBe(422)
    expect(await rejected.json()).toMatchObject({ error: { message: 'invalid request: p must be below 1' } })

    const [before, beforeOther] = [await upstream.calls(path('chat')), await upstream.calls(path('other'))]
    const refused = await gateway.chat({ model: 'chat', messages, n: 2 })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'n' } })
    expect(await upstream.calls(path('chat'))).toHaveLength(before.length)
    expect(await upstream.calls(path('other'))).toHaveLength(beforeOther.length)
  })
})

describe('reranking', () => {
  const documents = ['a', { text: 'b' }]
  const ask = (model: string) => post('/v1/rerank', { model, query: 'q', documents, return_documents: true })
  const results = [{ index: 1, relevance_score: 0.9, document: { text: 'b' } }]

  it('is billed in units at Cohere', async () => {
    const reply = {
      id: 'r',
      results: [{ index: 1, relevance_score: 0.9 }],
      meta: { billed_units: { search_units: 2 } },
    }
    await upstream.script(path('rank'), [json(200, reply)])
    expect(await (await ask('rank')).json()).toMatchObject({ id: 'r', results })
    expect(await finished()).toMatchObject({ mode: 'rerank', usage: { rerankUnits: 2, inputTokens: 0 } })
  })

  it('is billed in tokens at Voyage', async () => {
    const data = [{ index: 1, relevance_score: 0.9 }]
    await upstream.script(path('order'), [json(200, { object: 'list', data, usage: { total_tokens: 26 } })])
    expect(await (await ask('order')).json()).toMatchObject({ results })
    expect(await finished()).toMatchObject({ usage: { inputTokens: 26, rerankUnits: 1 } })
  })

  it('is billed in tokens at Jina', async () => {
    await upstream.script(path('jina'), [json(200, { model: 'j', usage: { total_tokens: 8 }, results })])
    expect(await (await ask('jina')).json()).toEqual({ model: 'j', usage: { total_tokens: 8 }, results })
    expect(await finished()).toMatchObject({ usage: { inputTokens: 8 } })
  })
})

describe('embeddings of Voyage', () => {
  it('come in the public shape', async () => {
    const data = [{ object: 'embedding', embedding: 'AAAAPw==', index: 0 }]
    await upstream.script(path('vectors'), [
      json(200, { object: 'list', data, model: 'v', usage: { total_tokens: 4 } }),
    ])
    const response = await post('/v1/embeddings', { model: 'vectors', input: 'a', encoding_format: 'base64' })
    expect(await response.json()).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: 'AAAAPw==' }],
      model: 'v',
      usage: { prompt_tokens: 4, total_tokens: 4 },
    })
    expect(await finished()).toMatchObject({ provider: 'voyage', usage: { inputTokens: 4 } })
  })
})
