import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { readStream, spokenText } from '../support/sse.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { configuration, deployment } from './configuration.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]
const withoutKey = { headers: { authorization: '' } }
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway(configuration({ model_list: [deployment(upstream.url, 'model', 'endpoints-model')] }))
})
afterAll(() => gateway.close())

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

  it('POST /v1/chat/completions: an event stream when `stream` is true', async () => {
    const response = await gateway.chat({ model: 'model', messages, stream: true })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const stream = await readStream(response)
    expect(spokenText(stream)).not.toBe('')
    expect(stream.events.at(-1)?.data).toBe('[DONE]')
  })

  it('GET /v1/models: model list', async () => {
    expect(await (await gateway.fetch('/v1/models')).json()).toMatchObject({ object: 'list', data: [{ id: 'model' }] })
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

  it('GET /metrics: no auth, Prometheus text format', async () => {
    const response = await gateway.fetch('/metrics', withoutKey)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(parsePrometheus(await response.text()).families.size).toBeGreaterThan(5)
  })
})
