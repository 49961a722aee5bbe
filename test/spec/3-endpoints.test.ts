import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { chatInit } from '../support/gateway.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { readStream, spokenText } from '../support/sse.ts'
import type { Call } from '../support/upstream/call.ts'
import { json, raw } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]
const withoutKey = { headers: { authorization: '' } }

const gateway = withGateway(() => {
  const names = ['model', 'image', 'speech', 'hear', 'rank']
  const model_list = names.map((name) => deployment(upstream.url, name, `endpoints-${name}`))
  const openai = { model: 'openai/endpoints-native', api_key: 'k' }
  model_list.push(deployment(upstream.url, 'native', 'endpoints-native', {}, openai))
  return configuration({ model_list })
})

const post = (path: string, body: unknown) => gateway.fetch(path, chatInit(body))
const sent = (call: Call | undefined) => JSON.parse(new TextDecoder().decode(call?.body))

describe('Proxy endpoints', () => {
  it('POST /v1/chat/completions: chat-completion result', async () => {
    const response = await gateway.chat({ model: 'model', messages })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'stop' }],
      usage: { total_tokens: expect.any(Number) },
    })
  })

  it.each(['/v1/chat/completions', '/v1/responses'])(
    'POST %s: a managed tool or a prompt that is not there is refused, not left out; a tool of the vendor passes',
    async (path) => {
      const asked = path === '/v1/responses' ? { model: 'native', input: 'Hello' } : { model: 'native', messages }
      for (const stream of [false, true]) {
        const prompted = await post(path, { ...asked, metadata: { prompt_ref: 'greeting' }, stream })
        expect(prompted.status).toBe(400)
        expect(await prompted.json()).toMatchObject({
          error: { type: 'invalid_request_error', param: 'metadata.prompt_ref' },
        })
        const managed = { tools: [{ type: 'mcp', server: 'docs', require_approval: 'never' }] }
        const tooled = await post(path, { ...asked, ...managed, stream })
        expect(tooled.status).toBe(stream ? 400 : 404)
        expect(await tooled.json()).toMatchObject({ error: { param: stream ? 'stream' : 'tools.0.server' } })
      }
      const tools = [{ type: 'mcp', server_label: 'docs', server_url: 'https://docs.test/mcp' }]
      await (await post(path, { ...asked, tools, metadata: { prompt_ref: null } })).text()
      expect(sent((await upstream.calls('endpoints-native')).at(-1)).tools).toEqual(tools)
    },
  )

  it('POST /v1/chat/completions: an event stream when `stream` is true', async () => {
    const response = await gateway.chat({ model: 'model', messages, stream: true })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const stream = await readStream(response)
    expect(spokenText(stream)).not.toBe('')
    expect(stream.events.at(-1)?.data).toBe('[DONE]')
  })

  it('POST /v1/completions: `prompt`, translated internally to one user chat message, completion result', async () => {
    const response = await post('/v1/completions', { model: 'model', prompt: 'Once upon a time' })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ object: 'text_completion', choices: [{ text: expect.any(String) }] })
    const call = (await upstream.calls('endpoints-model')).at(-1)
    expect(call?.path).toBe('/v1/chat/completions')
    expect(sent(call)).toMatchObject({ messages: [{ role: 'user', content: 'Once upon a time' }] })
  })

  it.each([
    ['echo', { echo: true }],
    ['best_of greater than 1', { best_of: 2 }],
    ['logprobs', { logprobs: 1 }],
    ['suffix', { suffix: 'the end' }],
  ])('`/v1/completions` returns HTTP 400 when the request sets %s', async (_, field) => {
    const response = await post('/v1/completions', { model: 'model', prompt: 'Once', ...field })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: Object.keys(field)[0] } })
  })

  it('POST /v1/responses: `model`, `input`; response result; translated to chat completions internally', async () => {
    const response = await post('/v1/responses', { model: 'model', input: 'Hello' })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ object: 'response', status: 'completed' })
    expect((await upstream.calls('endpoints-model')).at(-1)?.path).toBe('/v1/chat/completions')
  })

  it('POST /v1/responses: streams when `stream` is true', async () => {
    const stream = await readStream(await post('/v1/responses', { model: 'model', input: 'Hello', stream: true }))
    expect(stream.events.at(0)?.event).toBe('response.created')
    expect(stream.events.at(-1)?.event).toBe('response.completed')
  })

  it('POST /v1/embeddings: `model`, `input`; embeddings result', async () => {
    const response = await post('/v1/embeddings', { model: 'model', input: 'Hello' })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ object: 'list', data: [{ object: 'embedding', index: 0 }] })
  })

  it('POST /v1/images/generations: `model`, `prompt`, `size` (format `<width>x<height>`); image result', async () => {
    await upstream.script('endpoints-image', [json(200, { created: 1, data: [{ b64_json: 'AA' }] })])
    const body = { model: 'image', prompt: 'a lighthouse', size: '1024x768' }
    expect(await (await post('/v1/images/generations', body)).json()).toMatchObject({ data: [{ b64_json: 'AA' }] })
    expect(sent((await upstream.calls('endpoints-image')).at(-1))).toMatchObject({ size: '1024x768' })
    expect((await post('/v1/images/generations', { ...body, size: 'large' })).status).toBe(400)
  })

  it('POST /v1/audio/speech: `model`, `input`, `voice`, `response_format`; raw audio bytes, not JSON', async () => {
    await upstream.script('endpoints-speech', [raw(200, 'ID3 sound', { 'content-type': 'audio/mpeg' })])
    const body = { model: 'speech', input: 'Hello', voice: 'alloy', response_format: 'mp3' }
    const response = await post('/v1/audio/speech', body)
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    expect(await response.text()).toBe('ID3 sound')
  })

  it.each([
    ['json', { text: 'Hello' }],
    ['verbose_json', { text: 'Hello', language: 'english', duration: 1.5, segments: [] }],
  ])(
    'POST /v1/audio/transcriptions: multipart form; transcription in the requested response format %s',
    async (format, said) => {
      await upstream.script('endpoints-hear', [json(200, said)])
      const form = new FormData()
      form.set('file', new File(['RIFF'], 'a.wav', { type: 'audio/wav' }))
      const fields = { model: 'hear', language: 'en', response_format: format, temperature: '0' }
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      const response = await gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body: form })
      expect(await response.json()).toEqual(said)
    },
  )

  it('POST /v1/rerank: `model`, `query`, `documents`, `top_n`; rerank result', async () => {
    const results = [{ index: 1, relevance_score: 0.9 }]
    await upstream.script('endpoints-rank', [json(200, { results })])
    const body = { model: 'rank', query: 'where?', documents: ['here', 'there'], top_n: 1 }
    expect(await (await post('/v1/rerank', body)).json()).toMatchObject({ results })
    expect(sent((await upstream.calls('endpoints-rank')).at(-1))).toMatchObject({
      top_n: 1,
      documents: ['here', 'there'],
    })
  })

  it('GET /v1/models: model list', async () => {
    expect(await (await gateway.fetch('/v1/models')).json()).toMatchObject({
      object: 'list',
      data: [{ id: 'hear' }, { id: 'image' }, { id: 'model' }, { id: 'native' }, { id: 'rank' }, { id: 'speech' }],
    })
  })
})

describe('Health and metrics endpoints', () => {
  it('GET /health: health report', async () => {
    expect((await gateway.fetch('/health', withoutKey)).status).toBe(200)
  })

  it('GET /health/liveliness: 200 when the process is alive', async () => {
    expect((await gateway.fetch('/health/liveliness', withoutKey)).status).toBe(200)
  })

  it('GET /health/readiness: 200 when dependencies are connected', async () => {
    expect((await gateway.fetch('/health/readiness', withoutKey)).status).toBe(200)
  })

  it('GET /health/deployments: deployment health summary', async () => {
    const response = await gateway.fetch('/health/deployments')
    expect(response.status).toBe(200)
    const summary = (await response.json()) as { deployments: { deployment_id: string; state: string }[] }
    expect(summary.deployments).toContainEqual(
      expect.objectContaining({ deployment_id: 'endpoints-model', state: 'healthy' }),
    )
  })

  it('GET /health/fallback-events: auth required, `{events: [fallback event]}`', async () => {
    expect((await gateway.fetch('/health/fallback-events', withoutKey)).status).toBe(401)
    expect(await (await gateway.fetch('/health/fallback-events')).json()).toEqual({ events: [] })
  })

  it('GET /metrics: no auth, Prometheus text format', async () => {
    const response = await gateway.fetch('/metrics', withoutKey)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(parsePrometheus(await response.text()).families.size).toBeGreaterThan(5)
  })
})
