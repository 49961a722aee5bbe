import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { CallFinished } from '../../src/telemetry/events.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { readStream } from '../support/sse.ts'
import { answer, frames, json, raw, serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

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
/** A deployment of another kind, which the upstream knows by its path. */
const of = (name: string, kind: string, base: string, info: object) => ({
  model_name: name,
  deployment_id: name,
  gateway_params: { model: `${kind}/${name}`, api_base: `${upstream.url}/${here}-${name}${base}`, api_key: 'sk-x' },
  model_info: { ...price, ...info },
})
const price = { input_cost_per_token: 0.000002, output_cost_per_token: 0.00001, cached_input_cost_per_token: 0.0000005 }

function configuration(general: object = {}): string {
  return JSON.stringify({
    general_settings: general,
    router_settings: { routing_strategy: 'priority-based-routing', num_retries: 1, retry_after: 0.01 },
    model_list: [
      at('priced', 'priced', price),
      at('unpriced', 'unpriced'),
      at('tells', 'tells'),
      at('tells-less', 'tells', price),
      at('mixed', 'unpriced', { priority: 0 }),
      at('mixed', 'priced', { ...price, priority: 1 }),
      at('failing', 'failing', { ...price, input_cost_per_token: 9, priority: 0 }),
      at('failing', 'priced', { ...price, priority: 1 }),
      at('tiers', 'tiers', { ...price, price_multipliers: { 'service_tier/priority': 2, 'service_tier/flex': 0.5 } }),
      of('claude', 'anthropic', '', { price_multipliers: { 'speed/fast': 6 } }),
      of('gpt', 'openai', '/v1', { tool_costs: { file_search: 0.0025 } }),
      at('reranks', 'reranks', { input_cost_per_token: 0.000001 }),
      at('draws', 'draws', { input_cost_per_token: 0.000001, output_cost_per_token: 0.00001 }),
      at('hears', 'hears', { cost_per_audio_second: 0.0001 }),
      at('chosen', 'chosen', { cost_per_image: { '1024x1024': 0.04, '512x512': 0.02 } }),
      at('grok', 'grok'),
      at('pictures', 'pictures', { cost_per_image: { '1024x1024': 0.04, '512x512': 0.02 } }),
    ],
  })
}

const gateway = withGateway()
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
  beforeAll(() => gateway.restart(configuration()))

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

  it.each([false, true])('is what the provider says where the price is unknown (streamed: %s)', async (stream) => {
    const told = { ...usage, cost: 0.00123, is_byok: false, cost_details: { upstream_inference_cost: 0.00123 } }
    await upstream.script(`${here}-tells`, [answer({ usage: told })])
    for (const [model, costNano] of [
      ['tells', 1_230_000],
      ['tells-less', 1_900_000],
    ]) {
      await (await gateway.chat({ model, messages, stream })).text()
      expect(await finished()).toMatchObject({ model, costNano })
    }
  })

  it('is that of the deployment that served; one that failed cost nothing', async () => {
    await (await gateway.chat({ model: 'failing', messages })).json()
    expect(await finished()).toMatchObject({
      deployment: 'failing-priced',
      costNano: 1_900_000,
      tried: [{ costNano: 0 }, { costNano: 1_900_000 }],
    })
  })

  it('is what the provider says of images without a price', async () => {
    const data = [{ url: 'https://imgen.x.ai/a.jpg', mime_type: 'image/jpeg' }]
    await upstream.script(`${here}-grok`, [json(200, { data, usage: { cost_in_usd_ticks: 200_000_000 } })])
    const body = JSON.stringify({ model: 'grok', prompt: 'A' })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/images/generations', { method: 'POST', body, headers })).json()
    expect(await finished()).toMatchObject({ costNano: 20_000_000, usage: { images: 1 } })
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

  const inTokens = 1_900_000
  it.each([
    ['asked for and given', { service_tier: 'priority' }, 'priority', 2 * inTokens],
    ['asked for and not given', { service_tier: 'priority' }, 'default', inTokens],
    ['asked for, and nothing is told', { service_tier: 'priority' }, undefined, 2 * inTokens],
    ['given unasked', {}, 'priority', 2 * inTokens],
    ['cheaper, and given', { service_tier: 'flex' }, 'flex', inTokens / 2],
    ['cheaper, and nothing is told', { service_tier: 'flex' }, undefined, inTokens],
    ['asked for, without a price', { service_tier: 'sk-canary-tier' }, undefined, undefined],
    ['given unasked, without a price', {}, 'golden', inTokens],
  ])('is that of the service tier: %s', async (_, fields, told, nano) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
    const completion = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices,
      usage,
      service_tier: told,
    }
    const chunk = (more: object) =>
      `data: ${JSON.stringify({ ...completion, object: 'chat.completion.chunk', usage: undefined, ...more })}\n\n`
    const said = chunk({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] })
    const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    await upstream.script(`${here}-tiers`, [
      json(200, completion),
      json(200, {
        ...completion,
        choices: [{ ...choices[0], message: { role: 'assistant', content: 'x'.repeat(9000) } }],
      }),
      frames([said, end, chunk({ choices: [], usage }), 'data: [DONE]\n\n']),
    ])
    for (const stream of [false, false, true]) {
      await readStream(await gateway.chat({ model: 'tiers', messages, stream, ...fields }))
      const call = await finished()
      expect(call.costNano).toBe(nano)
      expect(JSON.stringify(call)).not.toContain('canary')
    }
  })

  it.each([
    ['at its usual speed', {}, { speed: 'standard' }, 1],
    ['at another speed', { speed: 'fast' }, { speed: 'fast' }, 6],
    ['at another speed, which it was not', { speed: 'fast' }, { speed: 'standard' }, 1],
  ])('is that of a message %s, and of the searches in it', async (_, fields, told, times) => {
    const reported = { input_tokens: 10, output_tokens: 7, server_tool_use: { web_search_requests: 3 }, ...told }
    const content = [{ type: 'text', text: 'Hi' }]
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn' }
    await upstream.script(`/${here}-claude`, [json(200, { ...message, usage: reported })])
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }]
    const body = JSON.stringify({ model: 'claude', max_tokens: 50, messages, tools, ...fields })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/messages', { method: 'POST', body, headers })).json()
    expect(await finished()).toMatchObject({
      costNano: times * 90_000 + 30_000_000,
      usage: { toolUses: { web_search: 3 } },
    })
  })

  it('is that of every pass over a conversation that is compacted', async () => {
    const passes = [
      { type: 'compaction', input_tokens: 1000, output_tokens: 100 },
      { type: 'message', input_tokens: 10, output_tokens: 7 },
    ]
    const content = [{ type: 'text', text: 'Hi' }]
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn' }
    const reported = { input_tokens: 10, output_tokens: 7, iterations: passes }
    await upstream.script(`/${here}-claude`, [json(200, { ...message, usage: reported })])
    const body = JSON.stringify({ model: 'claude', max_tokens: 50, messages })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/messages', { method: 'POST', body, headers })).json()
    expect(await finished()).toMatchObject({ costNano: 1010 * 2000 + 107 * 10_000 })
  })

  it('is that of the tools that a provider of responses ran', async () => {
    const output = [
      { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search' } },
      { type: 'web_search_call', id: 'o', status: 'completed', action: { type: 'open_page' } },
      { type: 'file_search_call', id: 'f', status: 'completed' },
      { type: 'code_interpreter_call', id: 'c1', container_id: 'cntr' },
      { type: 'code_interpreter_call', id: 'c2', container_id: 'cntr' },
      { type: 'function_call', id: 'x', name: 'mine', arguments: '{}', call_id: 'c' },
    ]
    const response = {
      id: 'resp',
      object: 'response',
      status: 'completed',
      output,
      usage: { input_tokens: 10, output_tokens: 7 },
    }
    await upstream.script(`/${here}-gpt`, [json(200, response)])
    const tools = ['web_search', 'file_search', 'code_interpreter'].map((type) => ({ type }))
    const body = JSON.stringify({ model: 'gpt', input: 'x', tools })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/responses', { method: 'POST', body, headers })).json()
    expect(await finished()).toMatchObject({ costNano: 90_000 + 10_000_000 + 2_500_000 + 30_000_000 })
  })

  const results = [{ index: 0, relevance_score: 1 }]
  it.each([
    ['the total alone', { results, usage: { total_tokens: 56 } }, 56, false],
    ['tokens in and out', { results, usage: { prompt_tokens: 50, completion_tokens: 0, total_tokens: 50 } }, 50, false],
    ['what another vendor bills', { results, meta: { billed_units: { input_tokens: 70 } } }, 70, false],
    // Of each of two documents with the query: 2 × 100 letters and 20 + 180.
    ['nothing', { results }, 100, true],
    ['nonsense', { results, usage: { total_tokens: 'many' }, meta: 5 }, 100, true],
  ])('is that of a reranking by tokens, whose provider tells %s', async (_, told, tokens, estimated) => {
    await upstream.script(`${here}-reranks`, [json(200, told)])
    const documents = ['d'.repeat(20), { text: 'd'.repeat(180) }]
    const body = JSON.stringify({ model: 'reranks', query: 'q'.repeat(100), documents })
    const headers = { 'content-type': 'application/json' }
    expect((await gateway.fetch('/v1/rerank', { method: 'POST', body, headers })).status).toBe(200)
    const call = await finished()
    expect(call).toMatchObject({ costNano: tokens * 1000, usage: { inputTokens: tokens, estimated } })
  })

  it.each([
    ['low', 408],
    ['auto', 7024],
    [undefined, 7024],
    ['max', 28_096],
  ])('is that of images by tokens that nobody told, of the quality %s', async (quality, each) => {
    await upstream.script(`${here}-draws`, [json(200, { created: 1, data: [{ b64_json: 'x' }] })])
    const body = JSON.stringify({ model: 'draws', prompt: 'A cat.', n: 2, quality })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/images/generations', { method: 'POST', body, headers })).json()
    expect(await finished()).toMatchObject({ costNano: 1000 + 2 * each * 10_000, usage: { estimated: true } })
  })

  const wav = () => {
    const header = new DataView(new ArrayBuffer(44))
    for (const [at, word] of [
      [0, 'RIFF'],
      [8, 'WAVE'],
      [12, 'fmt '],
      [36, 'data'],
    ] as const) {
      for (let index = 0; index < 4; index++) header.setUint8(at + index, word.charCodeAt(index))
    }
    header.setUint32(16, 16, true)
    header.setUint16(20, 1, true)
    header.setUint16(22, 1, true)
    header.setUint32(24, 8000, true)
    header.setUint32(28, 16_000, true)
    header.setUint16(32, 2, true)
    header.setUint16(34, 16, true)
    return new Uint8Array([...new Uint8Array(header.buffer), ...new Uint8Array(5 * 16_000)])
  }
  const second = 100_000
  it.each([
    ['a format that tells nothing', new Uint8Array(75_000), 'text', 'Hi', [100, 102]],
    ['subtitles that end early', new Uint8Array(75_000), 'srt', '1\n00:00:00,000 --> 00:00:01,000\nHi\n', [100, 102]],
    ['the recording itself', wav(), 'text', 'Hi', [5, 5]],
    [
      'the recording itself, however early its last word is',
      wav(),
      'srt',
      '1\n00:00:00,000 --> 00:00:01,000\nHi\n',
      [5, 5],
    ],
    [
      'its provider',
      new Uint8Array(75_000),
      'json',
      JSON.stringify({ text: 'Hi', usage: { type: 'duration', seconds: 7 } }),
      [7, 7],
    ],
  ] as const)('is that of all seconds of a recording, by %s', async (_, recording, format, told, [least, most]) => {
    const type = format === 'json' ? 'application/json' : 'text/plain'
    await upstream.script(`${here}-hears`, [raw(200, told, { 'content-type': type })])
    const form = new FormData()
    form.set('model', 'hears')
    form.set('response_format', format)
    form.set('file', new File([recording], 'a.ogg'))
    expect((await gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body: form })).status).toBe(200)
    const call = await finished()
    expect(call.costNano).toBeGreaterThanOrEqual(least * second)
    expect(call.costNano).toBeLessThanOrEqual(most * second)
    expect(call.usage?.estimated).toBe(format !== 'json')
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
    const counted = async () => {
      const page = parsePrometheus(await (await gateway.fetch('/metrics')).text())
      return [
        page.total('gateway_unpriced_calls_total', { model: 'unpriced' }),
        page.total('gateway_spend_total', { model: 'priced' }),
      ]
    }
    const [unpriced = 0, dollars = 0] = await counted()
    await (await gateway.chat({ model: 'unpriced', messages })).text()
    await (await gateway.chat({ model: 'priced', messages })).text()
    await gateway.idle()
    expect(await counted()).toEqual([unpriced + 1, expect.closeTo(dollars + 0.0019, 12)])
  })
})

describe('refuse_unpriced', () => {
  beforeAll(() => gateway.restart(configuration({ refuse_unpriced: true })))

  it('leaves deployments without a price out, and says so where none is left', async () => {
    const asked = async () => (await upstream.calls(`${here}-unpriced`)).length
    const before = await asked()
    const response = await gateway.chat({ model: 'unpriced', messages })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      error: { type: 'api_error', code: 'no_priced_deployment', param: 'model' },
    })
    expect((await gateway.chat({ model: 'mixed', messages })).headers.get('x-gateway-deployment')).toBe('mixed-priced')
    expect((await gateway.chat({ model: 'pictures', messages })).status).toBe(503)
    expect(await asked()).toBe(before)
  })

  it.each([
    ['service_tier', { service_tier: 'priority' }],
    ['speed', { speed: 'fast' }],
    ['web_search_options', { web_search_options: {} }],
    ['tools.0.type', { tools: [{ type: 'browser_search' }] }],
    ['plugins.0', { plugins: [{ id: 'web' }] }],
  ])('refuses what has no price by its name: %s', async (param, fields) => {
    const response = await gateway.chat({ model: 'mixed', messages, ...fields })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param, code: 'unpriced_parameter' } })
    const fine = { service_tier: 'flex', tools: [{ type: 'function', function: { name: 'f' } }] }
    expect((await gateway.chat({ model: 'mixed', messages, ...fine })).status).toBe(200)
  })
})
