import { describe, expect, inject, it } from 'vitest'
import { providerIdKey } from '../../src/stores/kv/keys.ts'
import { chatInit } from '../support/gateway.ts'
import { openaiClient } from '../support/openai-client.ts'
import { readStream, spokenText } from '../support/sse.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { answer, change, cutAfter, frames, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const native = `native-${run}`
const mixed = `mixed-${run}`
const dated = `dated-${run}`
const twins = `twins-${run}`

const entry = (group: string, kind: string, base: string, more = '') =>
  `  - model_name: ${group}\n    deployment_id: ${group}-${kind}\n    gateway_params:\n      model: ${kind}/up-${group}-${kind}\n      api_base: ${upstream.url}${base}\n      api_key: sk-upstream-canary-91c2\n${more}`

const gateway = withGateway(
  () =>
    `router_settings: { cooldown_time: 0, num_retries: 2 }\nmodel_list:\n${[
      entry(native, 'openai', '/v1'),
      entry(mixed, 'openai-compatible', '/v1'),
      entry(mixed, 'azure', ''),
      entry(twins, 'openai', '/v1'),
      entry(twins, 'azure', ''),
      entry(dated, 'azure', '', "      api_version: '2024-10-21'\n"),
    ].join('')}`,
)

const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 25,
}
const message = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Grüße 🙂', annotations: [], logprobs: [] }],
}
const response = (more: object) => ({
  id: 'resp_up',
  object: 'response',
  created_at: 1_760_000_000,
  status: 'in_progress',
  model: 'gpt-up',
  output: [],
  error: null,
  usage: null,
  ...more,
})
const event = (type: string, sequence_number: number, more: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...more })}\n\n`
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const events = [
  event('response.created', 0, { response: response({}) }),
  event('response.in_progress', 1, { response: response({}) }),
  event('response.output_item.added', 2, { output_index: 0, item: { ...message, status: 'in_progress', content: [] } }),
  event('response.content_part.added', 3, { ...at, part: { type: 'output_text', text: '', annotations: [] } }),
  event('response.output_text.delta', 4, { ...at, delta: 'Grüße 🙂', logprobs: [] }),
  event('response.output_text.done', 5, { ...at, text: 'Grüße 🙂', logprobs: [] }),
  event('response.output_item.done', 6, { output_index: 0, item: message }),
  event('response.completed', 7, { response: response({ status: 'completed', output: [message], usage }) }),
]
const respond = (body: object) => gateway.fetch('/v1/responses', chatInit({ input: 'Hello', ...body }))
const billed = { estimated: false, inputTokens: 20, outputTokens: 5, cachedInputTokens: 8, reasoningTokens: 2 }
const finishedLine = async () => {
  await gateway.idle()
  return gateway.logs.findLast((line) => line.event === 'call.finished')
}

describe('POST /v1/responses, where the provider speaks it', () => {
  const up = `up-${native}-openai`

  it.each([
    ['/v1/responses', { input: 'x', background: true }, 'background'],
    ['/v1/responses', { input: 'x', background: true, stream: true, store: true }, 'background'],
    ['/v1/responses', { input: 'x', Background: 1 }, 'Background'],
    ['/v1/responses', { input: 'x', deferred: true }, 'deferred'],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }], deferred: true }, 'deferred'],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }], background: 'yes' }, 'background'],
    ['/v1/completions', { prompt: 'x', deferred: true }, 'deferred'],
    ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'x' }], background: true }, undefined],
  ])('of an answer that would be fetched later are refused: %s %j', async (path, fields, param) => {
    for (const model of [native, mixed]) {
      await upstream.script(`up-${model}-openai`, [answer()])
      const sent = await gateway.fetch(path, chatInit({ model, ...fields }))
      expect(sent.status).toBe(400)
      const { error } = await sent.json()
      if (param) expect(error).toMatchObject({ param, code: 'unsupported_parameter' })
      expect(error.message).toMatch(/fetched later/)
      expect(await upstream.calls(`up-${model}-openai`)).toHaveLength(0)
    }
  })

  it('relays both ways byte for byte', async () => {
    const body = ` {"id":"resp_up", "output":[${JSON.stringify(message)}],"usage":${JSON.stringify(usage)}, "x":1.50}`
    await upstream.script(up, [
      {
        say: { kind: 'raw', status: 200, headers: { 'content-type': 'application/json' }, pieces: [body] },
        changes: [],
      },
    ])
    // An answer to go on from.
    await (await respond({ model: native })).text()
    const asked = `{ "input":"Zürich 🙂", "previous_response_id":"resp_up","background":false, "model":"${native}","tools":[{"type":"web_search"}],"seed":12345678901234567890 }`
    const answered = await gateway.fetch('/v1/responses', chatInit(asked))
    expect(await answered.text()).toBe(body)
    const call = (await upstream.calls(up)).at(-1)
    expect(call?.path).toBe('/v1/responses')
    expect(new TextDecoder().decode(call?.body)).toBe(asked.replace(native, up))
    expect(await finishedLine()).toMatchObject({ endpoint: '/v1/responses', usage: billed })
  })

  it('streams the vendor’s own events, which the official client takes', async () => {
    await upstream.script(up, [frames(events)])
    const received = await readStream(await respond({ model: native, stream: true }))
    expect(received.text).toBe(events.join(''))
    expect(await finishedLine()).toMatchObject({ streamed: true, ending: 'answered', usage: billed })
    const final = await openaiClient(gateway).responses.stream({ model: native, input: 'x' }).finalResponse()
    expect(final).toMatchObject({ id: 'resp_up', output_text: 'Grüße 🙂' })
  })

  it('tries again, unseen, when a stream fails before its first word', async () => {
    const error = { code: 'server_error', message: 'Sorry.' }
    const failed = event('response.failed', 2, { response: response({ status: 'failed', error }) })
    await upstream.script(up, [frames([...events.slice(0, 2), failed]), frames(events)])
    const answered = await respond({ model: native, stream: true })
    expect(answered.headers.get('x-gateway-attempts')).toBe('2')
    expect((await readStream(answered)).text).toBe(events.join(''))
  })

  it('is asked once more without reasoning that another account has encrypted', async () => {
    const message = 'The encrypted content for item rs_1 could not be verified.'
    const refusal = json(400, { error: { message, type: 'invalid_request_error', code: 'invalid_encrypted_content' } })
    const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":12345678901234567890}' }
    const result = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
    const thought = { type: 'reasoning', summary: [], encrypted_content: 'gAAA' }
    const fields = { model: native, store: false, stream: true, input: [thought, call, result] }
    await upstream.script(up, [refusal, frames(events)])
    const answered = await respond(fields)
    expect([(await readStream(answered)).text, answered.headers.get('x-gateway-attempts')]).toEqual([
      events.join(''),
      '1',
    ])
    const sent = (await upstream.calls(up)).slice(-2).map((one) => (bodyOf(one) as { input: unknown }).input)
    expect(sent).toEqual([fields.input, [call, result]])
    await upstream.script(up, [refusal, refusal, frames(events)])
    const refused = await respond(fields)
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { message } }])
  })

  it('ends a stream that was cut in the vendor’s own way', async () => {
    await upstream.script(up, [change(frames(events), cutAfter({ frames: 5 }))])
    const received = await readStream(await respond({ model: native, stream: true }))
    const last = JSON.parse(received.events.at(-1)?.data ?? '')
    expect(received.events.map((one) => JSON.parse(one.data).sequence_number)).toEqual([0, 1, 2, 3, 4, 5])
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { id: 'resp_up', error: { code: 'server_error' } },
    })
    expect(await finishedLine()).toMatchObject({ ending: 'truncated' })
  })

  it('is asked of a native deployment alone when chat could not say it', async () => {
    const azure = `up-${mixed}-azure`
    await upstream.script(azure, [json(200, response({ status: 'completed', output: [message], usage }))])
    await (await respond({ model: mixed, store: true })).text()
    for (let turn = 0; turn < 8; turn++) {
      const answered = await respond({ model: mixed, previous_response_id: 'resp_up', store: true })
      expect(answered.headers.get('x-gateway-deployment')).toBe(`${mixed}-azure`)
      expect(await answered.json()).toMatchObject({ id: 'resp_up' })
    }
    expect(await upstream.calls(`up-${mixed}-openai-compatible`)).toHaveLength(0)
    expect((await upstream.calls(azure)).at(-1)?.path).toBe('/openai/v1/responses')
  })
})

describe('an answer that its provider keeps', () => {
  const answerOf = (id: string) => json(200, response({ id, status: 'completed', output: [message], usage }))
  const deployments = [`up-${twins}-openai`, `up-${twins}-azure`] as const
  const goOn = (id: string) => respond({ model: twins, previous_response_id: id })
  const first = { input: 'Hello', model: twins }

  it('is gone on from at the deployment that made it, whole and streamed', async () => {
    await upstream.script(deployments[0], [answerOf('resp_of_openai')])
    await upstream.script(deployments[1], [answerOf('resp_of_azure')])
    const made = new Map<string, string>()
    for (let turn = 0; turn < 40 && made.size < 2; turn++) {
      const answered = await respond(first)
      const { id } = (await answered.json()) as { id: string }
      made.set(id, answered.headers.get('x-gateway-deployment') ?? '')
    }
    expect(made.size).toBe(2)
    for (const [id, deployment] of made) {
      for (let turn = 0; turn < 4; turn++) {
        expect((await goOn(id)).headers.get('x-gateway-deployment')).toBe(deployment)
      }
    }
    const named = (text: string) => text.replaceAll('resp_up', 'resp_streamed')
    for (const up of deployments) await upstream.script(up, [frames(events.map(named))])
    const streamed = await respond({ ...first, stream: true })
    await readStream(streamed)
    await gateway.idle()
    for (let turn = 0; turn < 4; turn++) {
      const again = await respond({ ...first, stream: true, previous_response_id: 'resp_streamed' })
      expect(again.headers.get('x-gateway-deployment')).toBe(streamed.headers.get('x-gateway-deployment'))
      await readStream(again)
    }
  })

  it('of another tenant is as absent as one that nobody made, and nobody is asked', async () => {
    await gateway.store.put(providerIdKey('resp_theirs'), JSON.stringify(['team:other', `${twins}-openai`]), 60)
    const before = await Promise.all(deployments.map((up) => upstream.calls(up)))
    const [theirs, nobodys] = [await goOn('resp_theirs'), await goOn('resp_nobodys')]
    for (const refused of [theirs, nobodys]) {
      expect(refused.status).toBe(404)
      expect(await refused.json()).toMatchObject({
        error: { type: 'not_found_error', param: 'previous_response_id', code: 'previous_response_not_found' },
      })
    }
    const after = await Promise.all(deployments.map((up) => upstream.calls(up)))
    expect(after.map(({ length }) => length)).toEqual(before.map(({ length }) => length))
  })

  it('is remembered by nobody where nobody keeps it', async () => {
    for (const up of deployments) await upstream.script(up, [answerOf('resp_unkept')])
    await (await respond({ ...first, store: false })).text()
    expect((await goOn('resp_unkept')).status).toBe(404)
  })
})

describe('azure', () => {
  const up = `up-${dated}-azure`

  it('answers responses by way of chat where its version has none', async () => {
    await upstream.script(up, [answer({ text: 'Hi' })])
    const body = (await (await respond({ model: dated })).json()) as object
    expect(body).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'Hi' }] }] })
    const call = (await upstream.calls(up)).at(-1)
    expect(call?.path).toBe(`/openai/deployments/${up}/chat/completions?api-version=2024-10-21`)
    expect(call?.headers).toMatchObject({ 'api-key': 'sk-upstream-canary-91c2' })
    expect(call?.headers).not.toHaveProperty('authorization')
    expect(bodyOf(call as never)).toMatchObject({ messages: [{ role: 'user', content: 'Hello' }] })
  })

  it('streams chat with what its filters say, words and parallel tool calls', async () => {
    const toolCalls = [
      { id: 'call_a', name: 'weather', arguments: '{"city":"Zürich"}' },
      { id: 'call_b', name: 'time', arguments: '{}' },
    ]
    const delta = (value: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', created: 1, model: 'gpt', choices: [{ index: 0, delta: value, finish_reason }], usage: null })}\n\n`
    const filters = `data: ${JSON.stringify({ choices: [], created: 0, id: '', model: '', prompt_filter_results: [{ prompt_index: 0 }] })}\n\n`
    const call = (index: number, { arguments: text, ...more }: { id?: string; name?: string; arguments: string }) =>
      delta({ tool_calls: [{ index, id: more.id, type: 'function', function: { name: more.name, arguments: text } }] })
    const counts = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
    const pieces = [
      filters,
      delta({ role: 'assistant', content: 'Both.' }),
      ...toolCalls.map((one, index) => call(index, { ...one, arguments: '' })),
      ...toolCalls.map((one, index) => call(index, { arguments: one.arguments })),
      delta({}, 'tool_calls'),
    ]
    const counted = `data: ${JSON.stringify({ choices: [], usage: counts })}\n\n`
    await upstream.script(up, [frames([...pieces, counted, 'data: [DONE]\n\n'])])
    const messages = [{ role: 'user', content: 'x' }]
    const received = await readStream(await gateway.chat({ model: dated, messages, stream: true }))
    // The client asked for no usage, so that not even the empty one is for it.
    expect(received.text).toBe([...pieces, 'data: [DONE]\n\n'].join('').replaceAll(',"usage":null', ''))
    expect(spokenText(received)).toBe('Both.')
    expect(await finishedLine()).toMatchObject({ provider: 'azure', usage: { inputTokens: 20, outputTokens: 5 } })

    const final = await openaiClient(gateway).responses.stream({ model: dated, input: 'x' }).finalResponse()
    expect(final).toMatchObject({
      model: 'gpt',
      output: [
        { type: 'message' },
        ...toolCalls.map(({ id, name, arguments: text }) => ({ call_id: id, name, arguments: text })),
      ],
    })
  })

  it('tells what its filters refused', async () => {
    const error = {
      code: 'content_filter',
      message: 'The response was filtered.',
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    }
    await upstream.script(up, [json(400, { error })])
    const answered = await respond({ model: dated })
    expect(answered.status).toBe(400)
    expect(await answered.json()).toMatchObject({ error: { code: 'content_policy_violation' } })
    expect(answered.headers.get('x-gateway-attempts')).toBe('1')
  })
})
