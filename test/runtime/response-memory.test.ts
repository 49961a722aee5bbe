import { describe, expect, inject, it, vi } from 'vitest'
import { keptResponsesKey, responseKey } from '../../src/stores/kv/keys.ts'
import { chatInit, configOf } from '../support/gateway.ts'
import { openaiClient } from '../support/openai-client.ts'
import { readStream } from '../support/sse.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { answer, cutAfter } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const model = `memory-${run}`

const gateway = withGateway(() =>
  configOf(upstream.url, { [model]: [model] }, 'general_settings: { responses_max_bytes: 4000, cache_enabled: true }'),
)

type Body = { readonly id: string; readonly store: boolean; readonly previous_response_id: string | null }
const respond = (body: object, headers: Record<string, string> = {}) =>
  gateway.fetch('/v1/responses', chatInit({ model, ...body }, { headers }))
const create = async (body: object): Promise<Body> => {
  const response = await respond(body)
  expect(response.status).toBe(200)
  return (await response.json()) as Body
}
const refused = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; param: string; message: string } }
  return { status: response.status, code: error.code, param: error.param, message: error.message }
}
const get = (path: string, method = 'GET') => gateway.fetch(`/v1/responses/${path}`, { method })
const messagesSent = async () =>
  (bodyOf((await upstream.calls(model)).at(-1) as never) as { messages: { role: string; content: unknown }[] }).messages
const tools = [{ type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: null }]

describe('the memory of responses', () => {
  it('continues an answer with new input alone, as often as asked, whole and streamed', async () => {
    await upstream.script(model, [answer({ text: 'Hello Ada.' }), answer({ text: 'Ada.' }), answer({ text: 'Twice.' })])
    const client = openaiClient(gateway)
    const first = await client.responses.create({ model, input: 'I am Ada.', instructions: 'Be brief.' })
    expect(first).toMatchObject({ store: true, previous_response_id: null })
    const second = await client.responses.create({ model, input: 'My name?', previous_response_id: first.id })
    expect(second.previous_response_id).toBe(first.id)
    // Instructions hold for one response.
    expect(await messagesSent()).toEqual([
      { role: 'user', content: 'I am Ada.' },
      { role: 'assistant', content: 'Hello Ada.' },
      { role: 'user', content: 'My name?' },
    ])
    const stream = client.responses.stream({ model, input: 'How often?', previous_response_id: second.id })
    const third = await stream.finalResponse()
    expect(third).toMatchObject({ output_text: 'Twice.', previous_response_id: second.id, store: true })
    expect((await messagesSent()).map(({ content }) => content)).toEqual([
      'I am Ada.',
      'Hello Ada.',
      'My name?',
      'Ada.',
      'How often?',
    ])
    // The streamed one is there at once, too, and the first can be continued in another way.
    await client.responses.create({ model, input: 'And?', previous_response_id: third.id })
    expect(await messagesSent()).toHaveLength(7)
    await client.responses.create({ model, input: 'Or?', previous_response_id: first.id })
    expect(await messagesSent()).toHaveLength(3)
  })

  it.runIf(run === 'n')('is there when the answer has ended, though its process was busy meanwhile', async () => {
    await upstream.script(model, [answer({ text: 'One.' })])
    const { settle } = gateway.store
    let settled = false
    vi.spyOn(gateway.store, 'settle').mockImplementationOnce(async (outcome) => {
      for (let turn = 0; turn < 8; turn++) {
        await new Promise(setImmediate)
        for (const until = performance.now() + 90; performance.now() < until; );
      }
      settled = true
      return settle(outcome)
    })
    expect((await respond({ input: 'Count.' })).status).toBe(200)
    expect(settled).toBe(true)
  })

  it('keeps calls of functions for their results', async () => {
    const call = { id: 'call_1', name: 'weather', arguments: '{"city":"Zürich"}' }
    await upstream.script(model, [answer({ text: '', toolCalls: [call] }), answer({ text: 'Sunny.' })])
    const asked = await create({ input: 'Weather?', tools })
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'sun' }
    const told = await create({ input: [result], tools, previous_response_id: asked.id })
    expect(told).toMatchObject({ output: [{ content: [{ text: 'Sunny.' }] }] })
    expect(await messagesSent()).toMatchObject([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'weather' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sun' },
    ])
    const unasked = [{ ...result, call_id: 'call_2' }]
    expect(await refused(await respond({ input: unasked, previous_response_id: asked.id }))).toMatchObject({
      status: 400,
      param: 'input.0.call_id',
      message: expect.stringContaining('call_2'),
    })
  })

  it('puts an item in the place of a reference to it', async () => {
    await upstream.script(model, [answer({ text: 'Seven.' })])
    const first = await create({ input: 'A number?' })
    const [item] = (first as unknown as { output: { id: string }[] }).output
    const reference = { type: 'item_reference', id: item?.id }
    await create({ input: [reference, { role: 'user', content: 'Add one.' }] })
    expect(await messagesSent()).toEqual([
      { role: 'assistant', content: 'Seven.' },
      { role: 'user', content: 'Add one.' },
    ])
    const lost = [{ type: 'item_reference', id: `${item?.id.slice(0, -8)}00000000` }]
    expect(await refused(await respond({ input: lost }))).toMatchObject({ status: 404, code: 'item_not_found' })
  })

  it('shows, lists and forgets what it keeps', async () => {
    await upstream.script(model, [answer({ text: 'One.' }), answer({ text: 'Two.' })])
    const first = await create({ input: 'Count.' })
    const second = await create({ input: 'On.', previous_response_id: first.id })
    expect(await (await get(second.id)).json()).toEqual(second)
    expect(await refused(await get(`${second.id}?stream=true`))).toMatchObject({ status: 400, param: 'stream' })

    type Page = { data: { id: string; type: string; role: string }[]; has_more: boolean; last_id: string }
    const page = async (query: string) => (await (await get(`${second.id}/input_items?${query}`)).json()) as Page
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
    const result = { type: 'function_call_output', call_id: 'c', output: 'ok', status: 'incomplete' }
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
    const seen = { ...call, call_id: 'd' }
    const said = { role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] }
    const { id } = await create({ input: [call, seen, result, { ...result, call_id: 'd', output: [image] }, said] })
    expect(await (await get(`${id}/input_items?order=asc`)).json()).toMatchObject({
      data: [
        { ...call, status: 'completed' },
        seen,
        result,
        { output: [{ ...image, detail: 'auto' }] },
        { content: [{ type: 'output_text', text: 'So.', annotations: [] }] },
      ],
    })
    const all = await page('order=asc')
    expect(all.data.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(all).toMatchObject({ object: 'list', has_more: false })
    expect(all.data[0]).toMatchObject({ type: 'message', content: [{ type: 'input_text', text: 'Count.' }] })
    const newest = await page('limit=2')
    expect(newest.data).toEqual(all.data.toReversed().slice(0, 2))
    expect(newest.has_more).toBe(true)
    expect((await page(`after=${newest.last_id}`)).data).toEqual([all.data[0]])
    expect(await refused(await get(`${second.id}/input_items?after=no`))).toMatchObject({ status: 400, param: 'after' })
    expect((await get(`${second.id}/input_items?limit=101`)).status).toBe(400)

    expect(await refused(await get(`${second.id}/cancel`, 'POST'))).toMatchObject({ status: 400 })
    expect(await (await get(first.id, 'DELETE')).json()).toEqual({ id: first.id, object: 'response', deleted: true })
    for (const gone of [get(first.id), get(first.id, 'DELETE'), get(`${first.id}/cancel`, 'POST')]) {
      expect(await refused(await gone)).toMatchObject({ status: 404, code: 'response_not_found' })
    }
    // Its conversation goes on where it was continued.
    await create({ input: 'And?', previous_response_id: second.id })
    expect(await messagesSent()).toHaveLength(5)
  })

  it('keeps nothing where the client or the length says so, and the answer tells', async () => {
    await upstream.script(model, [answer({ text: 'Hi.' })])
    const cases: [object, Record<string, string>?][] = [
      [{ input: 'Hello', store: false }],
      [{ input: 'Hello' }, { 'x-gateway-no-log': '1' }],
      [{ input: 'x'.repeat(5000) }],
    ]
    for (const [body, headers] of cases) {
      const kept = (await (await respond(body, headers)).json()) as Body
      expect(kept.store).toBe(false)
      expect((await get(kept.id)).status).toBe(404)
      expect(await refused(await respond({ input: 'On.', previous_response_id: kept.id }))).toMatchObject({
        status: 404,
        code: 'previous_response_not_found',
        param: 'previous_response_id',
        message: expect.stringContaining('store: false'),
      })
    }
    for (const previous of ['resp_123', 'nonsense', `resp_${'0'.repeat(24)}`, 'x'.repeat(3000)]) {
      const response = await respond({ input: 'On.', previous_response_id: previous })
      expect(await refused(response)).toMatchObject({ status: 404, code: 'previous_response_not_found' })
    }
  })

  it('says what it cannot do', async () => {
    expect(await refused(await respond({ input: 'Hi', background: true }))).toMatchObject({
      status: 400,
      param: 'background',
    })
    expect(await refused(await respond({ input: 'Hi', conversation: 'conv_1' }))).toMatchObject({
      param: 'conversation',
    })
  })

  it('stores what was said sealed, for one tenant, under a meter', async () => {
    await upstream.script(model, [answer({ text: 'The word is cobalt.' })])
    const { id } = await create({ input: 'Remember cobalt.' })
    const stored = await gateway.store.get(responseKey('master_key', id))
    expect(stored).toMatch(/^v1\./)
    expect(await gateway.store.get(responseKey('team:other', id))).toBeUndefined()
    expect(keptResponsesKey('master_key')).not.toContain(id)
    // Moved to another place, or damaged, it is not there.
    await gateway.store.put(responseKey('master_key', `resp_${'1'.repeat(24)}`), stored ?? '', 60)
    await gateway.store.put(responseKey('master_key', `resp_${'2'.repeat(24)}`), 'v1.x.y', 60)
    for (const digit of ['1', '2']) expect((await get(`resp_${digit.repeat(24)}`)).status).toBe(404)
  })

  it('an identical call that is answered from the cache is the same response', async () => {
    await upstream.script(model, [answer({ text: 'Same.' }), answer({ text: 'Other.' })])
    const [first, again] = [await create({ input: 'Same?' }), await create({ input: 'Same?' })]
    expect(again.id).toBe(first.id)
    await create({ input: 'On.', previous_response_id: again.id })
    expect(await messagesSent()).toHaveLength(3)
  })

  it.each([false, true])('is not named by the cache once it was deleted (streamed: %s)', async (stream) => {
    await upstream.script(model, [answer({ text: 'Once.' })])
    const asked = { input: 'Forget me.', stream }
    const again = async (body: object) => {
      const response = await respond(body)
      const [id] = /resp_\w+/.exec(await response.text()) as RegExpExecArray
      await gateway.idle()
      return { cache: response.headers.get('x-gateway-cache'), id }
    }
    const first = await again(asked)
    expect(await again(asked)).toEqual({ cache: 'hit', id: first.id })
    expect((await get(first.id, 'DELETE')).status).toBe(200)
    const second = await again(asked)
    expect(second.cache).toBe('miss')
    expect((await get(second.id)).status).toBe(200)
    expect(await again(asked)).toEqual({ cache: 'hit', id: second.id })

    // Nobody can delete what is not kept.
    const unkept = await again({ ...asked, store: false })
    expect((await get(unkept.id, 'DELETE')).status).toBe(404)
    expect(await again({ ...asked, store: false })).toEqual({ cache: 'hit', id: unkept.id })
  })

  it('compacts a conversation to one item, with which it goes on', async () => {
    await upstream.script(model, [answer({ text: 'Launch: Tuesday 🚀.' }), answer({ text: 'Tuesday.' })])
    const input = [
      { type: 'message', role: 'user', content: 'We launch on Tuesday.' },
      { type: 'message', role: 'assistant', content: 'Understood.' },
    ]
    const response = await gateway.fetch('/v1/responses/compact', chatInit({ model, input, prompt_cache_key: 'k' }))
    const compaction = (await response.json()) as { output: object[] }
    expect(compaction).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response.compaction',
      created_at: expect.any(Number),
      output: [{ type: 'compaction', id: expect.any(String), encrypted_content: expect.any(String) }],
      usage: { input_tokens: expect.any(Number), input_tokens_details: { cached_tokens: 0 } },
    })
    expect((await messagesSent()).at(-1)?.content).toContain('Compact')
    await create({ input: [...compaction.output, { role: 'user', content: 'When?' }], tools: [] })
    const [summary] = await messagesSent()
    expect(summary).toMatchObject({ role: 'user', content: expect.stringContaining('Launch: Tuesday 🚀.') })
    for (const [body, status] of [
      [{ input }, 400],
      [{ model, input, stream: true }, 400],
      [{ model, input: [{ type: 'compaction', encrypted_content: 'of another' }] }, 400],
    ] as const) {
      expect((await gateway.fetch('/v1/responses/compact', chatInit(body))).status).toBe(status)
    }
  })

  it('estimates the tokens of an input, with the conversation that it continues', async () => {
    await upstream.script(model, [answer({ text: 'Hi.' })])
    const { id } = await create({ input: 'Hello '.repeat(40) })
    const count = async (body: object) => {
      const response = await gateway.fetch('/v1/responses/input_tokens', chatInit({ model, ...body }))
      expect([response.status, response.headers.get('x-gateway-estimated')]).toEqual([200, '1'])
      const counted = (await response.json()) as { object: string; input_tokens: number }
      expect(counted.object).toBe('response.input_tokens')
      return counted.input_tokens
    }
    const alone = await count({ input: 'And?' })
    expect(alone).toBeGreaterThan(0)
    expect(await count({ input: 'And?', previous_response_id: id })).toBeGreaterThan(alone + 50)
  })

  it('a cut answer is not kept', async () => {
    await upstream.script(model, [answer({ text: 'Some words that are cut.' }, cutAfter({ frames: 3 }))])
    const { events } = await readStream(await respond({ input: 'Cut?', stream: true }))
    const failed = events.map(({ data }) => JSON.parse(data)).find(({ type }) => type === 'response.failed')
    expect((await get(failed.response.id)).status).toBe(404)
  })
})
