import { describe, expect, inject, it } from 'vitest'
import type { Settlement } from '../../src/stores/kv/shared-store.ts'
import type { StoredValue } from '../../src/stores/kv/stored-value.ts'
import { configuration, deployment } from '../support/configuration.ts'
import {
  answer,
  type Behaviour,
  badRequest,
  change,
  cutAfter,
  json,
  serverError,
  slowHeaders,
} from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const messages = [{ role: 'user', content: 'Größe? ☃' }]
const PRICES = { input_cost_per_token: 0.001, output_cost_per_token: 0.002 }
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const gateway = withGateway()
let serial = 0
let [first, spare] = ['', '']

async function begin(settings: object = {}, router_settings: object = {}): Promise<void> {
  serial += 1
  ;[first, spare] = ['first', 'spare'].map((name) => `cache-${run}-${serial}-${name}`) as [string, string]
  await gateway.restart(
    configuration({
      general_settings: { cache_enabled: true, ...settings },
      router_settings,
      gateway_settings: { fallbacks: [{ group: ['spare'] }] },
      model_list: [
        deployment(upstream.url, 'group', first, PRICES),
        deployment(upstream.url, 'other', `${first}-other`, PRICES),
        deployment(upstream.url, 'spare', spare, PRICES),
      ],
    }),
  )
  await upstream.script(first, [answer()])
  await upstream.script(spare, [answer()])
}

interface Got {
  readonly cache: string | null
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

const jsonInit = (body: object, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Got> {
  const response = await gateway.fetch(path, jsonInit(body, headers))
  const text = await response.text()
  return { cache: response.headers.get('x-gateway-cache'), status: response.status, text, headers: response.headers }
}
const chat = (more: object = {}, headers: Record<string, string> = {}) =>
  post('/v1/chat/completions', { model: 'group', messages, ...more }, headers)
const asked = async (id = first) => (await upstream.calls(id)).length
async function line() {
  await gateway.idle()
  return gateway.logs.findLast(({ event }) => event === 'call.finished') as Record<string, unknown>
}
const metric = async (name: string) => {
  const page = await (await gateway.fetch('/metrics')).text()
  return page
    .split('\n')
    .filter((one) => one.startsWith(name))
    .reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0)
}

describe('cached answers', () => {
  it.each([
    ['/v1/chat/completions', (text: string) => ({ messages: [{ role: 'user', content: text }] })],
    ['/v1/completions', (text: string) => ({ prompt: text })],
    ['/v1/responses', (text: string) => ({ input: text })],
    ['/v1/messages', (text: string) => ({ messages: [{ role: 'user', content: text }], max_tokens: 100 })],
  ])('of %s are the same, whole and as a stream in the same pieces', async (path, bodyOf) => {
    await begin()
    const body = bodyOf(`Größe? ☃ ${serial}`)
    for (const stream of [false, true]) {
      const before = await asked()
      const original = await post(path, { ...body, model: 'group', stream })
      await gateway.idle()
      const repeated = await post(path, { ...body, model: 'group', stream })
      expect([original.status, original.cache, repeated.status, repeated.cache]).toEqual([200, 'miss', 200, 'hit'])
      expect(repeated.text).toBe(original.text)
      expect(repeated.headers.get('content-type')).toBe(original.headers.get('content-type'))
      expect(repeated.headers.get('age')).toMatch(/^\d+$/)
      expect((await asked()) - before).toBe(1)
    }
  })

  it('come to the client in the pieces of the first stream', async () => {
    await begin()
    const pieces = async () => {
      const response = await gateway.chat({ model: 'group', messages, stream: true })
      const read: string[] = []
      const decoder = new TextDecoder()
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) read.push(decoder.decode(piece))
      await gateway.idle()
      return read
    }
    const original = await pieces()
    const repeated = await pieces()
    expect(repeated.join('')).toBe(original.join(''))
    // A network may join pieces, but never a whole answer of many.
    if (run === 'w') expect(repeated).toEqual(original)
  })

  it('cost nothing, and the event, the ledger and the metrics say what they saved', async () => {
    await begin()
    await chat()
    const made = await line()
    expect(made).toMatchObject({ cache: 'miss', savedNano: 0, attempts: 1 })
    const [saved, spent] = [await metric('gateway_cache_saved_usd_total'), await metric('gateway_spend_total')]
    await chat()
    const hit = await line()
    expect(hit).toMatchObject({
      cache: 'hit',
      costNano: 0,
      savedNano: made.costNano,
      usage: made.usage,
      attempts: 0,
      deployment: first,
      ending: 'answered',
    })
    expect(made.costNano).toBeGreaterThan(0)
    expect(gateway.records.findLast(({ topic }) => topic === 'ledger')?.entry).toMatchObject({
      cache: 'hit',
      costNano: 0,
    })
    expect((await metric('gateway_cache_saved_usd_total')) - saved).toBeCloseTo(Number(made.costNano) / 1e9, 9)
    expect(await metric('gateway_spend_total')).toBeCloseTo(spent, 9)
    expect([await metric('gateway_cache_hit_total'), await metric('gateway_cache_miss_total')]).toEqual([1, 1])
  })

  it('are found by what is asked, however it is written', async () => {
    await begin()
    expect((await chat({ temperature: 0, seed: 1.0 })).cache).toBe('miss')
    await gateway.idle()
    const again = `{"seed":1,"temperature":0.0,"stream":false,
      "messages":[{"content":"Gr\\u00f6\\u00dfe? \\u2603","role":"user"}],"metadata":{"cache":{"ttl":60}},"model":"group"}`
    const response = await gateway.chat(again)
    await response.text()
    expect(response.headers.get('x-gateway-cache')).toBe('hit')
    for (const different of [
      { seed: 2, temperature: 0 },
      { seed: 1, temperature: 0, user: 'a' },
      { seed: 1, temperature: 0, metadata: { note: 'a' } },
      { seed: 1, temperature: 0, model: 'other' },
      { seed: 1, temperature: 0, stream: true },
    ]) {
      expect((await chat(different)).cache, JSON.stringify(different)).toBe('miss')
    }
  })

  it('are neither used nor made where the cache is off', async () => {
    await begin({ cache_enabled: false })
    for (let time = 0; time < 2; time++) expect((await chat()).cache).toBeNull()
    expect(await asked()).toBe(2)
    expect(await line()).toMatchObject({ cache: 'off' })
  })

  it('follow the wishes of a call', async () => {
    await begin()
    const told = async (more: object, headers: Record<string, string> = {}) => {
      const { cache } = await chat(more, headers)
      await gateway.idle()
      return cache
    }
    expect(await told({}, { 'cache-control': 'no-store' })).toBeNull()
    expect(await told({ metadata: { cache: 'no-store' } })).toBeNull()
    expect(await told({})).toBe('miss')
    expect(await told({}, { 'cache-control': 'private, No-Cache' })).toBe('miss')
    expect(await told({ metadata: { cache: 'no-cache' } })).toBe('miss')
    expect(await asked()).toBe(5)
    expect(await told({})).toBe('hit')
    expect(await told({ temperature: 0.7 })).toBeNull()
    expect(await told({ temperature: 0.7, metadata: { cache: 'force' } })).toBe('miss')
    expect(await told({ temperature: 0.7, metadata: { cache: 'force' } })).toBe('hit')
    expect(await told({ temperature: 0.7 })).toBeNull()
    for (const cache of ['yes', 5, { ttl: 'long' }, { ttl: 0 }]) {
      const refused = await chat({ metadata: { cache } })
      expect([refused.status, JSON.parse(refused.text).error.param]).toEqual([400, 'metadata.cache'])
    }
  })

  it('of a call with a temperature are used where the operator allows it', async () => {
    await begin({ cache_nondeterministic: true })
    expect((await chat({ temperature: 1 })).cache).toBe('miss')
    await gateway.idle()
    expect((await chat({ temperature: 1 })).cache).toBe('hit')
  })

  it('are not made of failures, cut streams, fallbacks and answers that are too large', async () => {
    await begin({ cache_max_entry_bytes: 2000 })
    await upstream.script(first, [badRequest(), answer({ text: 'ok' })])
    expect((await chat()).status).toBe(400)
    await gateway.idle()
    expect((await chat()).cache).toBe('miss')
    await gateway.idle()
    expect((await chat()).cache).toBe('hit')

    await upstream.script(first, [answer({}, cutAfter({ frames: 3 })), answer({ text: 'ok' })])
    expect((await chat({ stream: true })).text).toContain('error')
    await gateway.idle()
    expect((await chat({ stream: true })).cache).toBe('miss')

    await upstream.script(first, [serverError(), answer({ text: 'ok' })])
    const rescued = await chat({ seed: 1 })
    expect([rescued.status, rescued.headers.get('x-gateway-deployment')]).toEqual([200, spare])
    await gateway.idle()
    expect((await chat({ seed: 1 })).cache).toBe('miss')

    for (const stream of [false, true]) {
      await upstream.script(first, [answer({ text: 'x'.repeat(3000) })])
      for (let time = 0; time < 2; time++) expect((await chat({ seed: 2, stream })).cache).toBe('miss')
      await gateway.idle()
    }
  })

  it.each([
    ['/v1/chat/completions', { messages }],
    ['/v1/completions', { prompt: 'x' }],
    ['/v1/responses', { input: 'x' }],
    ['/v1/messages', { messages, max_tokens: 100 }],
  ])('of %s are not made of what ended without saying why', async (path, body) => {
    await begin()
    const asking = { ...body, model: 'group' }
    const unfinished = answer({ finishReason: null, done: true })
    const wholes: [boolean, Behaviour][] = [
      [false, unfinished],
      // A model that cannot stream.
      [true, json(200, { ...COMPLETION, choices: [{ ...COMPLETION.choices[0], finish_reason: null }] })],
    ]
    for (const [stream, whole] of wholes) {
      await upstream.script(first, [whole, whole, json(200, COMPLETION)])
      for (let time = 0; time < 2; time++) {
        expect(await post(path, { ...asking, stream })).toMatchObject({ status: 200, cache: 'miss' })
        await gateway.idle()
      }
      await post(path, { ...asking, stream })
      await gateway.idle()
      expect((await post(path, { ...asking, stream })).cache).toBe('hit')
    }
    await upstream.script(first, [unfinished])
    const streaming = { ...asking, stream: true, metadata: { note: 'cut' } }
    expect((await post(path, streaming)).text).toContain('error')
    await gateway.idle()
    expect((await post(path, streaming)).cache).toBe('miss')
  })

  it('that are damaged are asked for again, so that the next call finds them', async () => {
    await begin()
    const { settle } = gateway.store
    const kept: StoredValue[] = []
    Object.assign(gateway.store, {
      settle: (outcome: Settlement) => {
        kept.push(...(outcome.values ?? []))
        return settle(outcome)
      },
    })
    const original = await chat()
    await gateway.idle()
    const [value] = kept as [StoredValue]
    expect((await chat()).cache).toBe('hit')
    for (const damaged of [value.text.slice(0, -5), `${value.text.split('|')[0]}|pnonsense`, 'nonsense']) {
      await gateway.store.put(value.key, damaged, 60)
      const before = await asked()
      expect(await chat()).toMatchObject({ cache: 'miss', status: 200 })
      await gateway.idle()
      expect(await asked()).toBe(before + 1)
      expect((await chat()).cache).toBe('hit')
    }
    expect(original.status).toBe(200)
  })

  it('are not used for what depends on more than the request', async () => {
    await begin()
    const hosted = { tools: [{ type: 'mcp', server_label: 'x', server_url: 'https://tools.test' }] }
    for (let time = 0; time < 2; time++) {
      expect((await post('/v1/responses', { model: 'group', input: 'x', ...hosted })).cache).toBeNull()
      expect((await chat({}, { 'x-gateway-explain': '1' })).cache).toBeNull()
      expect(
        (await post('/v1/responses', { model: 'group', input: 'x', previous_response_id: 'resp_1' })).cache,
      ).toBeNull()
    }
  })
})

describe('identical calls at the same time', () => {
  it.each([false, true])('ask once (streamed: %s), and all get the same', async (stream) => {
    await begin()
    await upstream.script(first, [answer({ text: 'slow' }, slowHeaders({ ms: 300 }))])
    const got = await Promise.all(Array.from({ length: 100 }, () => chat({ stream })))
    expect(await asked()).toBe(1)
    expect(new Set(got.map(({ text }) => text)).size).toBe(1)
    expect(got.filter(({ cache }) => cache === 'hit')).toHaveLength(99)
    await gateway.idle()
    const lines = gateway.logs.filter(({ event }) => event === 'call.finished')
    expect(lines.slice(-100).filter(({ costNano }) => costNano !== 0)).toHaveLength(1)
  })

  it('go on with the next one when the first fails', async () => {
    await begin()
    await upstream.script(first, [
      change(badRequest(), slowHeaders({ ms: 200 })),
      answer({ text: 'ok' }, slowHeaders({ ms: 200 })),
    ])
    const got = await Promise.all(Array.from({ length: 10 }, () => chat()))
    expect(got.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 400])
    expect(await asked()).toBe(2)
  })

  it.runIf(run === 'n')('go on with the next one when the client of the first leaves', async () => {
    await begin()
    await upstream.script(first, [answer({ text: 'ok' }, slowHeaders({ ms: 400 }))])
    const leaving = new AbortController()
    const left = gateway.chat({ model: 'group', messages, seed: 5 }, { signal: leaving.signal }).catch(() => 'left')
    await upstream.until(first, (calls) => calls.length === 1)
    const others = Array.from({ length: 5 }, () => chat({ seed: 5 }))
    await new Promise((resolve) => setTimeout(resolve, 100))
    leaving.abort()
    expect(await left).toBe('left')
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect(await asked()).toBe(2)
  })

  describe('as streams that wait', () => {
    const path = '/v1/chat/completions'
    const body = { model: 'group', messages, stream: true }
    const withoutComments = (text: string) => text.replaceAll(': keep-alive\n\n', '')

    it.each([
      [path, { messages }],
      ['/v1/messages', { messages, max_tokens: 100 }],
    ])('of %s begin with keep-alives, and get the whole answer', async (at, asking) => {
      await begin({}, { stream_keep_alive: 0.2 })
      await upstream.script(first, [answer({ text: 'Größe ☃' }, slowHeaders({ ms: 3000 }))])
      const send = () => gateway.fetch(at, jsonInit({ ...asking, model: 'group', stream: true }))
      const leading = send().then((response) => response.text())
      await upstream.until(first, (calls) => calls.length === 1)
      const following = await send()
      const reader = (following.body as ReadableStream<Uint8Array>).getReader()
      const begun = new TextDecoder().decode((await reader.read()).value)
      expect((await upstream.calls(first))[0]?.outcome).toBe('running')
      expect(begun).toMatch(/^(: keep-alive\n\n)+$/)
      expect(following.status).toBe(200)
      expect(following.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      let rest = ''
      const decoder = new TextDecoder()
      for (let piece = await reader.read(); !piece.done; piece = await reader.read())
        rest += decoder.decode(piece.value, { stream: true })
      expect(rest).toMatch(/^(: keep-alive\n\n){2}/)
      expect(withoutComments(rest)).toBe(withoutComments(await leading))
      expect(withoutComments(rest)).not.toBe('')
      expect(await asked()).toBe(1)
      expect(await line()).toMatchObject({ cache: 'hit', attempts: 0, ending: 'answered', status: 200 })
    })

    it('go on as the one that asks, and say in the stream what fails then', async () => {
      await begin({}, { stream_keep_alive: 0.2 })
      await upstream.script(first, [
        change(badRequest(), slowHeaders({ ms: 1500 })),
        answer({ text: 'second' }, slowHeaders({ ms: 600 })),
      ])
      const leading = post(path, body)
      await upstream.until(first, (calls) => calls.length === 1)
      const got = await post(path, body)
      expect((await leading).text).toContain('invalid_request_error')
      expect(got.status).toBe(200)
      expect(got.text).toMatch(/^: keep-alive\n\n.*second.*data: \[DONE\]\n\n$/s)
      expect(await line()).toMatchObject({ cache: 'miss', ending: 'answered' })

      await upstream.script(first, [change(badRequest(), slowHeaders({ ms: 1500 }))])
      const failing = { ...body, seed: 1 }
      const both = await Promise.all([
        post(path, failing),
        upstream.until(first, (calls) => calls.length === 3).then(() => post(path, failing)),
      ])
      expect(both[1].status).toBe(200)
      expect(both[1].text).toMatch(/^(: keep-alive\n\n)+data: \{"error":\{/)
      expect(both[1].text).not.toContain('[DONE]')
      expect(await line()).toMatchObject({ ending: 'failed', status: 400 })
    })
  })

  it('do not wait longer than they may', async () => {
    await begin({ cache_wait: 1 })
    await upstream.script(first, [answer({ text: 'slow' }, slowHeaders({ ms: 6000 })), answer({ text: 'quick' })])
    const leading = chat()
    await upstream.until(first, (calls) => calls.length === 1)
    const startedAt = performance.now()
    const followed = await chat()
    expect(followed.cache).toBe('miss')
    expect(performance.now() - startedAt).toBeGreaterThan(900)
    expect((await upstream.calls(first))[0]?.outcome).toBe('running')
    await leading
  })

  it('do not wait for each other where the answer is not kept', async () => {
    await begin({ cache_max_entry_bytes: 200 })
    await upstream.script(first, [answer({ text: 'x'.repeat(500) }, slowHeaders({ ms: 1500 }))])
    const all = Promise.all(Array.from({ length: 8 }, () => chat()))
    // They have waited for the first one, and then for nobody.
    await upstream.until(first, (calls) => calls.filter(({ outcome }) => outcome === 'running').length === 7)
    await all
    expect(await asked()).toBe(8)
  })
})

describe('embeddings', () => {
  const embed = (input: unknown, more: object = {}) => post('/v1/embeddings', { model: 'group', input, ...more })
  const vectors = (text: string) =>
    (JSON.parse(text).data as { index: number; embedding: unknown }[]).map(({ index, embedding }) => ({
      index,
      embedding,
    }))
  const inputs = Array.from({ length: 100 }, (_, at) => `Text ${at}: größer`)

  it('are cached for each input, and only the others are asked for', async () => {
    await begin()
    const all = await embed(inputs)
    await gateway.idle()
    const known = inputs.filter((_, at) => at !== 42)
    await begin()
    expect((await embed(known)).cache).toBe('miss')
    const madeLine = await line()
    await upstream.script(first, [badRequest(), answer()])
    expect((await embed(inputs)).status).toBe(400)
    expect(await line()).toMatchObject({ ending: 'failed', savedNano: 0 })
    const part = await embed(inputs)
    const partLine = await line()
    expect([part.status, part.cache]).toEqual([200, 'partial'])
    const calls = await upstream.calls(first)
    expect(JSON.parse(new TextDecoder().decode(calls.at(-1)?.body as Uint8Array)).input).toEqual([inputs[42]])
    expect(vectors(part.text)).toEqual(vectors(all.text))
    expect(partLine).toMatchObject({ cache: 'miss', savedNano: madeLine.costNano })
    expect(JSON.parse(part.text).usage.prompt_tokens).toBeLessThan(20)

    const before = await asked()
    const hit = await embed([...inputs].reverse())
    expect(hit.cache).toBe('hit')
    expect(vectors(hit.text).map(({ embedding }) => embedding)).toEqual(
      vectors(all.text)
        .map(({ embedding }) => embedding)
        .reverse(),
    )
    expect(JSON.parse(hit.text).usage).toEqual(JSON.parse(all.text).usage)
    expect(await line()).toMatchObject({ cache: 'hit', costNano: 0, attempts: 0 })
    const single = await embed(inputs[42])
    expect(single.cache).toBe('hit')
    expect(vectors(single.text)[0]?.embedding).toEqual(vectors(all.text)[42]?.embedding)
    expect(await asked()).toBe(before)
    expect((await embed(inputs[42], { dimensions: 4 })).cache).toBe('miss')
    expect((await embed(inputs[42], { encoding_format: 'base64' })).cache).toBe('miss')
  })

  it('of a fallback are all asked of it: its vectors do not compare with those of the group', async () => {
    await begin()
    const texts = inputs.slice(0, 3)
    await embed(texts.slice(0, 2))
    await gateway.idle()
    await upstream.script(first, [serverError()])
    const fallback = await embed(texts)
    expect([fallback.status, fallback.cache, JSON.parse(fallback.text).model]).toEqual([200, 'miss', spare])
    const [call] = await upstream.calls(spare)
    expect(JSON.parse(new TextDecoder().decode(call?.body as Uint8Array)).input).toEqual(texts)
    expect(await line()).toMatchObject({ cache: 'miss', savedNano: 0 })
  })

  it('of tokens and of long lists are cached as a whole', async () => {
    await begin()
    for (const input of [[1, 2, 3], Array.from({ length: 129 }, (_, at) => `Text ${at}`)]) {
      const original = await embed(input)
      await gateway.idle()
      const repeated = await embed(input)
      expect([original.cache, repeated.cache, repeated.text]).toEqual(['miss', 'hit', original.text])
    }
  })

  it('are asked for once by identical lists at the same time', async () => {
    await begin()
    await upstream.script(first, [answer({}, slowHeaders({ ms: 200 }))])
    const got = await Promise.all(Array.from({ length: 20 }, () => embed(inputs)))
    expect(await asked()).toBe(1)
    expect(new Set(got.map(({ text }) => JSON.stringify(vectors(text)))).size).toBe(1)
  })
})
