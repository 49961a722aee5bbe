import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { CallFinished } from '../../src/telemetry/events.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { readStream } from '../support/sse.ts'
import { answer, json, serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const here = `prices-${globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'workerd' : 'node'}`
const messages = [{ role: 'user', content: 'Hello' }]
const usage = {
  prompt_tokens: 1000,
  completion_tokens: 50,
  total_tokens: 1050,
  prompt_tokens_details: { cached_tokens: 400 },
}

const at = (name: string, model: string, info: object = {}) => ({
  model_name: name,
  deployment_id: `${name}-${model}`,
  gateway_params: { model: `openai-compatible/${here}-${model}`, api_base: `${upstream.url}/v1`, api_key: 'sk-x' },
  model_info: info,
})
const price = { input_cost_per_token: 0.000002, output_cost_per_token: 0.00001, cached_input_cost_per_token: 0.0000005 }

function configuration(general: object = {}): string {
  return JSON.stringify({
    general_settings: general,
    router_settings: { routing_strategy: 'priority-based-routing', num_retries: 1, retry_after: 0.01 },
    model_list: [
      at('priced', 'priced', price),
      at('unpriced', 'unpriced'),
      at('mixed', 'unpriced', { priority: 0 }),
      at('mixed', 'priced', { ...price, priority: 1 }),
      at('failing', 'failing', { ...price, input_cost_per_token: 9, priority: 0 }),
      at('failing', 'priced', { ...price, priority: 1 }),
      at('chosen', 'chosen', { cost_per_image: { '1024x1024': 0.04, '512x512': 0.02 } }),
      at('pictures', 'pictures', { cost_per_image: { '1024x1024': 0.04, '512x512': 0.02 } }),
    ],
  })
}

let gateway: TestGateway
beforeAll(async () => {
  for (const model of ['priced', 'unpriced']) await upstream.script(`${here}-${model}`, [answer({ usage })])
  await upstream.script(`${here}-failing`, [serverError()])
  await upstream.script(`${here}-pictures`, [json(200, { created: 1, data: [{ b64_json: 'x' }, { b64_json: 'y' }] })])
})

async function finished(): Promise<CallFinished> {
  await gateway.idle()
  const last = gateway.records.findLast(({ topic }) => topic === 'ledger')
  return last?.entry as CallFinished
}

describe('what a call cost', () => {
  beforeAll(async () => {
    gateway = await startGateway(configuration())
  })
  afterAll(() => gateway.close())

  it.each([false, true])('is told once with its tokens (streamed: %s)', async (stream) => {
    const before = gateway.records.length
    await readStream(await gateway.chat({ model: 'priced', messages, stream, metadata: { tags: [] } }))
    expect(await finished()).toMatchObject({
      requestedModel: 'priced',
      model: 'priced',
      costNano: 600 * 2000 + 400 * 500 + 50 * 10_000,
      tried: [{ costNano: 1_900_000 }],
      cache: 'off',
    })
    expect(gateway.records.length - before).toBe(1)
  })

  it('is unknown where the price is', async () => {
    await (await gateway.chat({ model: 'unpriced', messages })).json()
    const call = await finished()
    expect(call).toMatchObject({ usage: { inputTokens: 1000 } })
    expect(call.costNano).toBeUndefined()
  })

  it('is that of the deployment that served; one that failed cost nothing', async () => {
    await (await gateway.chat({ model: 'failing', messages })).json()
    expect(await finished()).toMatchObject({
      deployment: 'failing-priced',
      costNano: 1_900_000,
      tried: [{ costNano: 0 }, { costNano: 1_900_000 }],
    })
  })

  it('is that of the images, by their size', async () => {
    const body = JSON.stringify({ model: 'pictures', prompt: 'A', n: 2, size: '512x512' })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/images/generations', { method: 'POST', body, headers })).json()
    expect(await finished()).toMatchObject({ mode: 'image_generation', costNano: 40_000_000, usage: { images: 2 } })
  })

  it.each([
    ['auto', 80_000_000],
    ['02048x512', 80_000_000],
    ['00512x0512', 40_000_000],
  ])('is that of images whose size no price names, or names otherwise: %s', async (size, nano) => {
    const body = JSON.stringify({ model: 'pictures', prompt: 'A', n: 2, size })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/images/generations', { method: 'POST', body, headers })).json()
    expect(await finished()).toMatchObject({ costNano: nano })
  })

  it('is that of the size that the provider says it made', async () => {
    await upstream.script(`${here}-chosen`, [json(200, { created: 1, data: [{ b64_json: 'x' }], size: '512x512' })])
    const body = JSON.stringify({ model: 'chosen', prompt: 'A', size: 'auto' })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/images/generations', { method: 'POST', body, headers })).json()
    expect(await finished()).toMatchObject({ costNano: 20_000_000 })
  })

  it('is kept with a few short tags that a database can hold', async () => {
    const many = Array.from({ length: 50 }, (_, index) => `tag-${index}`)
    const tags = ['a\u0000b', 'x'.repeat(500), 'a\u0000b', ...many]
    const response = await gateway.chat({ model: 'priced', messages, metadata: { tags } })
    // No deployment has such tags: what was refused before it began is no call.
    expect(response.status).toBe(503)
    const before = gateway.records.length
    await gateway.idle()
    expect(gateway.records.length).toBe(before)
  })

  it('counts calls of unknown price, and dollars, on the metrics page', async () => {
    const page = await (await gateway.fetch('/metrics')).text()
    expect(page).toMatch(/^gateway_unpriced_calls_total\{.*model="unpriced".*\} 1$/m)
    expect(page).toMatch(/^gateway_spend_total\{.*model="priced".*\} 0\.0038$/m)
  })
})

describe('refuse_unpriced', () => {
  beforeAll(async () => {
    gateway = await startGateway(configuration({ refuse_unpriced: true }))
  })
  afterAll(() => gateway.close())

  it('leaves deployments without a price out, and says so where none is left', async () => {
    const response = await gateway.chat({ model: 'unpriced', messages })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      error: { type: 'api_error', code: 'no_priced_deployment', param: 'model' },
    })
    expect((await gateway.chat({ model: 'mixed', messages })).headers.get('x-gateway-deployment')).toBe('mixed-priced')
    expect((await gateway.chat({ model: 'pictures', messages })).status).toBe(503)
    expect((await upstream.calls(`${here}-unpriced`)).length).toBe(1)
  })
})
