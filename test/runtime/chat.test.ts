import { beforeEach, describe, expect, inject, it } from 'vitest'
import { chatInit, configOf, startGateway } from '../support/gateway.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { readStream, spokenText } from '../support/sse.ts'
import {
  answer,
  badKey,
  badRequest,
  comments,
  cutAfter,
  emptyBody,
  errorBodyWith200,
  errorEvent,
  htmlPage,
  json,
  lineEnds,
  malformedEvent,
  oneWrite,
  rateLimited,
  recut,
  redirect,
  reset,
  serverError,
  silence,
  slowBetween,
  slowFirstToken,
  stallAfter,
  truncated,
  wrongTypes,
} from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const decoder = new TextDecoder()
const messages = [{ role: 'user', content: 'Hello' }]
let serial = 0
/** A model name of this test alone, so that scripts and calls of tests never meet. */
let model: string
let other: string

const settings = `
router_settings:
  num_retries: 1
  cooldown_time: 0
  stream_first_token_timeout: 1
  stream_idle_timeout: 1
  timeout: 1
  total_timeout: 5
`
/** As some services take one in their address. */
const PATH_KEY = '9f8e7d6c5b4a39281706Canary'
const names = Array.from({ length: 260 }, (_, index) => `up-${index}`)

const gateway = withGateway(() => {
  const groups = Object.fromEntries(names.map((name) => [name, [name]]))
  const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
  const own = Object.fromEntries(Object.keys(groups).map((name) => [`${run}-${name}`, [`${run}-${name}`]]))
  const fallbacks = names
    .filter((_, index) => index % 2 === 0)
    .map((name, index) => `    - ${run}-${name}: [${run}-up-${index * 2 + 1}]\n`)
    .join('')
  const base = configOf(upstream.url, own, `${settings}\ngateway_settings:\n  fallbacks:\n${fallbacks}`)
  const address = `${upstream.url}/${PATH_KEY}/v1`
  return `${base}  - model_name: hidden\n    gateway_params: { model: openai-compatible/${run}-hidden, api_base: "${address}" }\n`
})
beforeEach(() => {
  const run = gateway.runtime === 'workerd' ? 'w' : 'n'
  model = `${run}-up-${serial * 2}`
  other = `${run}-up-${serial * 2 + 1}`
  serial += 1
})

async function errorOf(response: Response) {
  const body = (await response.json()) as {
    error: { message: string; type: string; code: string | null; param: string | null }
  }
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type'])
  return { status: response.status, ...body.error }
}

describe('a whole answer', () => {
  it('sends the bytes of the client on, with nothing but the model renamed', async () => {
    const text = `{ "seed": 12345678901234567890, "messages":[{"role":"user","content":"Zürich 🙂"}],\n "model":"${model}", "x_unknown": {"a":[1.50]} }`
    const response = await gateway.chat(text)
    expect(response.status).toBe(200)
    const [call] = await upstream.calls(model)
    expect(decoder.decode(call?.body)).toBe(text)
    expect(call?.headers.authorization).toBe('Bearer sk-upstream-canary-91c2')
  })

  it('gives back the bytes of the provider, and says where they are from', async () => {
    const body = `{ "id":"x",  "choices":[{"index":0,"message":{"role":"assistant","content":"Grüße"},"finish_reason":"stop"}], "seed_echo":12345678901234567890 }`
    await upstream.script(model, [
      {
        say: { kind: 'raw', status: 200, headers: { 'content-type': 'application/json' }, pieces: [body] },
        changes: [],
      },
    ])
    const response = await gateway.chat({ model, messages })
    expect(await response.text()).toBe(body)
    expect(response.headers.get('x-gateway-model-group')).toBe(model)
    expect(response.headers.get('x-gateway-deployment')).toBe(model)
    expect(response.headers.get('x-gateway-attempts')).toBe('1')
    expect(Number(response.headers.get('x-gateway-overhead-ms'))).toBeGreaterThanOrEqual(0)
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  })

  it('of a megabyte goes and comes byte for byte, and a mistake deep inside is the client’s', async () => {
    const long = JSON.stringify('All the "words" of a long talk, Grüße 🙂.\n'.repeat(20_000))
    const text = `{"messages":[{"role":"user","content":${long}}], "model":"${model}","seed":12345678901234567890}`
    expect((await gateway.chat(text)).status).toBe(200)
    expect(decoder.decode((await upstream.calls(model))[0]?.body)).toBe(text)

    const broken = chatInit(`{"model":"${model}","input":[{"role":"user","content":${long}},nonsense]}`)
    const response = await gateway.fetch('/v1/responses', broken)
    expect(await errorOf(response)).toMatchObject({ status: 400, code: 'invalid_json' })
    expect(await upstream.calls(model)).toHaveLength(1)
  })

  it('of a megabyte is sent again in the same words, to another model too', async () => {
    const long = JSON.stringify('All the "words" of a long talk, Grüße 🙂.\n'.repeat(20_000))
    const text = (name: string, more: string) =>
      `{ "mod€l":[1.0], "model":"${name}",${more}"messages":[{"role":"user","content":${long}}],"seed":12345678901234567890}`
    await upstream.script(model, [serverError()])
    const response = await gateway.chat(text(model, ' "metadata":{},'))
    expect(response.status).toBe(200)
    for (const [name, times] of [
      [model, 2],
      [other, 1],
    ] as const) {
      const asked = (await upstream.calls(name)).map(({ body }) => decoder.decode(body) === text(name, ''))
      expect(asked).toEqual(Array(times).fill(true))
    }
  })

  it('of a megabyte that is not UTF-8 never reaches the provider', async () => {
    const bytes = new TextEncoder().encode(
      JSON.stringify({ model, messages: [{ role: 'user', content: 'x'.repeat(1e6) }] }),
    )
    bytes[500_000] = 0xff
    const init = chatInit('', { body: bytes })
    const error = await errorOf(await gateway.fetch('/v1/chat/completions', init))
    expect(error).toMatchObject({ status: 400, code: 'invalid_json' })
    expect(await upstream.calls(model)).toHaveLength(0)
  })

  it('of a megabyte of undeclared length is the same', async () => {
    const text = JSON.stringify({ model, messages: [{ role: 'user', content: 'Grüße 🙂 '.repeat(90_000) }] })
    const init = { ...chatInit('', { body: new Blob([text]).stream() }), duplex: 'half' }
    expect((await gateway.fetch('/v1/chat/completions', init)).status).toBe(200)
    expect(decoder.decode((await upstream.calls(model))[0]?.body) === text).toBe(true)
  })

  it('keeps metadata from the provider unless the answer is stored there', async () => {
    await gateway.chat({ model, messages, metadata: { tags: [], user: 'u' } })
    await gateway.chat({ model, messages, store: true, metadata: { tags: [], user: 'u' } })
    const bodies = (await upstream.calls(model)).map((call) => JSON.parse(decoder.decode(call.body)))
    expect(bodies[0]).toEqual({ model, messages })
    expect(bodies[1]).toEqual({ model, messages, store: true, metadata: { user: 'u' } })
  })

  it('passes neither cookies nor the caller’s key to the provider, nor its headers back', async () => {
    await upstream.script(model, [answer({})])
    const response = await gateway.chat(
      { model, messages },
      { headers: { cookie: 'a=b', 'x-api-key': 'client', 'openai-organization': 'org-client' } },
    )
    const [call] = await upstream.calls(model)
    expect(call?.headers).not.toHaveProperty('cookie')
    expect(call?.headers).not.toHaveProperty('x-api-key')
    expect(call?.headers).not.toHaveProperty('openai-organization')
    expect(JSON.stringify(call?.headers)).not.toContain('sk-test-master')
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it.each([
    ['empty', emptyBody()],
    ['HTML', htmlPage()],
    ['truncated', answer({}, truncated({ bytes: 40 }))],
    ['wrongly typed', answer({}, wrongTypes({}))],
    ['an error with status 200', errorBodyWith200()],
    ['a redirect', redirect('http://127.0.0.1:1/elsewhere')],
    ['reset', reset()],
    ['a server error', serverError()],
  ])('that is %s is a clear 502', async (_, behaviour) => {
    await upstream.script(model, [behaviour])
    await upstream.script(other, [behaviour])
    const error = await errorOf(await gateway.chat({ model, messages }))
    expect(error).toMatchObject({ status: 502, type: 'api_error' })
    expect(error.message).not.toContain('sk-upstream')
  })

  it('is not waited for longer than the timeout', async () => {
    for (const id of [model, other]) await upstream.script(id, [silence()])
    const started = performance.now()
    const error = await errorOf(await gateway.chat({ model, messages }))
    expect(error).toMatchObject({ status: 504, code: 'upstream_timeout' })
    expect(performance.now() - started).toBeLessThan(15_000)
  })

  it('is retried, then asked for at the fallback, and says so', async () => {
    await upstream.script(model, [serverError()])
    const response = await gateway.chat({ model, messages })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-deployment')).toBe(other)
    expect(response.headers.get('x-gateway-attempts')).toBe('3')
    expect(await upstream.calls(model)).toHaveLength(2)
  })

  it('tells of a mistake without what may be a key in the address of the provider', async () => {
    const said = `Invalid URL (POST /${PATH_KEY}/v1/chat/completions)`
    const run = gateway.runtime === 'workerd' ? 'w' : 'n'
    await upstream.script(`${run}-hidden`, [json(400, { error: { message: said } })])
    const error = await errorOf(await gateway.chat({ model: 'hidden', messages }))
    expect(error.message).toBe('Invalid URL (POST /[secret]/v1/chat/completions)')
    expect(JSON.stringify(gateway.logs)).not.toContain(PATH_KEY)
  })

  it('tells a client’s own mistake in the provider’s words, without another attempt', async () => {
    await upstream.script(model, [badRequest()])
    const error = await errorOf(await gateway.chat({ model, messages }))
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' })
    expect(await upstream.calls(model)).toHaveLength(1)
    expect(await upstream.calls(other)).toHaveLength(0)
  })

  it('hides that the gateway’s own key was refused', async () => {
    await upstream.script(model, [badKey('sk-upstream-canary-91c2')])
    await upstream.script(other, [badKey('sk-upstream-canary-91c2')])
    const error = await errorOf(await gateway.chat({ model, messages }))
    expect(error).toMatchObject({ status: 502, code: 'upstream_refused' })
    expect(error.message).not.toContain('sk-upstream')
    expect(JSON.stringify(gateway.logs)).not.toContain('sk-upstream')
  })

  it('tells when to come back after a rate limit whose provider does not', async () => {
    await upstream.script(model, [rateLimited()])
    await upstream.script(other, [rateLimited()])
    const response = await gateway.chat({ model, messages })
    await response.text()
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
  })

  it('tells a provider’s rate limit from its own', async () => {
    await upstream.script(model, [rateLimited({ form: 'seconds', seconds: 3 } as never)])
    await upstream.script(other, [rateLimited({ form: 'seconds', seconds: 3 } as never)])
    const response = await gateway.chat({ model, messages })
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await errorOf(response)).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      code: 'upstream_rate_limited',
    })
  })
})

describe('a streamed answer', () => {
  const stream = (body: object = {}) => gateway.chat({ model, messages, stream: true, ...body })

  it('relays every event, and hides the usage that the client did not ask for', async () => {
    const received = await readStream(await stream())
    const [call] = await upstream.calls(model)
    expect(JSON.parse(decoder.decode(call?.body)).stream_options).toEqual({ include_usage: true })
    expect(received.events.at(-1)?.data).toBe('[DONE]')
    expect(received.text).not.toContain('"choices":[]')
    await gateway.idle()
    const finished = gateway.logs.filter((line) => line.event === 'call.finished').at(-1)
    expect(finished?.usage).toMatchObject({ estimated: false })
  })

  it('shows the usage to a client that asked', async () => {
    const received = await readStream(await stream({ stream_options: { include_usage: true } }))
    const usage = received.events.map(({ data }) => data).filter((data) => data.includes('"choices":[]'))
    expect(usage).toHaveLength(1)
  })

  it('is the same wherever the bytes were cut', async () => {
    const text = 'Grüße aus Zürich, 你好, 🙂.'
    const toolCalls = [
      { id: 'call_a', name: 'weather', arguments: '{"city":"Zürich"}' },
      { id: 'call_b', name: 'time', arguments: '{"zone":"Europe/Zurich"}' },
    ]
    // Ids, times and padding differ from call to call; what is said may not.
    const said = async (...changes: Parameters<typeof answer> extends [unknown?, ...infer Rest] ? Rest : never) => {
      await upstream.script(model, [answer({ text, toolCalls }, ...changes)])
      const { events, rest } = await readStream(await stream({ stream_options: { include_usage: true } }))
      expect(rest).toBe('')
      return events
        .map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)))
        .map((chunk) => chunk.choices ?? chunk)
    }
    const expected = await said()
    expect(expected.length).toBeGreaterThan(8)
    for (const cut of [{ every: 1 }, { every: 7 }, ...Array.from({ length: 6 }, (_, seed) => ({ seed }))]) {
      expect(await said(recut(cut))).toEqual(expected)
    }
  })

  it.each([
    ['in one write', oneWrite({})],
    ['with CRLF', lineEnds({ as: '\r\n' })],
    ['with comments', comments({})],
  ])('arrives whole %s', async (_, change) => {
    await upstream.script(model, [answer({ text: 'One two three, Grüße 🙂.' }, change)])
    const received = await readStream(await stream())
    expect(spokenText(received)).toBe('One two three, Grüße 🙂.')
    expect(received.events.at(-1)?.data).toBe('[DONE]')
  })

  it.each([
    ['an error as its first event', answer({}, errorEvent(0))],
    ['a server error', serverError()],
    ['a reset', reset()],
    ['silence', silence()],
    ['a late first token', answer({}, slowFirstToken({ ms: 3000 }))],
    ['an end before any content', answer({}, cutAfter({ frames: 1 }))],
  ])('that begins with %s fails over unseen', async (_, behaviour) => {
    await upstream.script(model, [behaviour])
    const received = await readStream(await stream())
    expect(received.events.at(-1)?.data).toBe('[DONE]')
    expect(received.text.match(/"role":"assistant"/g)).toHaveLength(1)
    expect(received.text).not.toContain('"error"')
    expect((await upstream.calls(other)).length).toBe(1)
  })

  it.each([
    ['is cut', answer({}, cutAfter({ frames: 4 })), 'upstream_truncated'],
    ['ends without a finish', answer({ finishReason: null }), 'upstream_truncated'],
    ['stalls', answer({}, stallAfter({ frames: 4 })), 'upstream_timeout'],
    ['reports an error', answer({}, errorEvent(4), slowBetween({ ms: 20 })), 'upstream_failed'],
  ])('that %s after it began ends with an error event and no [DONE]', async (_, behaviour, code) => {
    await upstream.script(model, [behaviour])
    const received = await readStream(await stream())
    const last = JSON.parse(received.events.at(-1)?.data ?? '{}')
    expect(last.error).toMatchObject({ code })
    expect(received.text).not.toContain('[DONE]')
    expect(received.rest).toBe('')
    expect(await upstream.calls(other)).toHaveLength(0)
  })

  it('that lacks [DONE] is finished properly and promptly', async () => {
    await upstream.script(model, [answer({ done: false })])
    const received = await readStream(await stream())
    expect(received.events.at(-1)?.data).toBe('[DONE]')
    expect(received.endedAtMs).toBeLessThan(1000)
  })

  it('keeps its client with comments while the model thinks, and still fails over unseen', async () => {
    const patient = await startGateway(
      configOf(
        upstream.url,
        { [model]: [model], [other]: [other] },
        `
router_settings: { stream_keep_alive: 0.1, stream_first_token_timeout: 1.5, cooldown_time: 0 }
gateway_settings: { fallbacks: [{ "${model}": ["${other}"] }] }
`,
      ),
    )
    await upstream.script(model, [silence()])
    await upstream.script(other, [answer({ text: 'At last.' }, slowFirstToken({ ms: 250 }), slowBetween({ ms: 120 }))])
    const received = await readStream(await patient.chat({ model, messages, stream: true }))
    expect(received.comments.length).toBeGreaterThan(6)
    expect(spokenText(received)).toBe('At last.')
    expect(received.events.at(-1)?.data).toBe('[DONE]')

    await upstream.script(other, [silence()])
    const failed = await readStream(await patient.chat({ model, messages, stream: true }))
    expect(JSON.parse(failed.events.at(-1)?.data ?? '{}')).toMatchObject({ error: { code: 'upstream_timeout' } })
    expect(failed.text).not.toContain('[DONE]')
    await patient.idle()
    await patient.close()
  })

  it('leaves out one malformed event and goes on', async () => {
    await upstream.script(model, [answer({ text: 'a b c d e f' }, malformedEvent(3))])
    const received = await readStream(await stream())
    for (const { data } of received.events.slice(0, -1)) expect(() => JSON.parse(data)).not.toThrow()
    expect(spokenText(received)).toBe('a b c d e f')
    await gateway.idle()
    const finished = gateway.logs.filter((line) => line.event === 'call.finished').at(-1)
    expect(finished).toMatchObject({ malformedEvents: 1, ending: 'answered' })
  })
})

describe('the metrics page', () => {
  it('is valid and counts what happened', async () => {
    const before = parsePrometheus(await (await gateway.fetch('/metrics')).text())
    const labels = { model, provider: 'openai-compatible', team: '', key_id: 'master_key' }
    await (await gateway.chat({ model, messages })).text()
    await readStream(await gateway.chat({ model, messages, stream: true }))
    await gateway.idle()
    const after = parsePrometheus(await (await gateway.fetch('/metrics')).text())
    expect(before.value('gateway_requests_total', { ...labels, status_code: '200' })).toBeUndefined()
    expect(after.value('gateway_requests_total', { ...labels, status_code: '200' })).toBe(2)
    expect(after.value('gateway_input_tokens_total', labels)).toBeGreaterThan(0)
    expect(after.value('gateway_output_tokens_total', labels)).toBeGreaterThan(0)
    expect(after.value('gateway_request_total_latency_seconds_count', { model, provider: 'openai-compatible' })).toBe(2)
    expect(after.value('gateway_llm_api_latency_seconds_count', { model, provider: 'openai-compatible' })).toBe(2)
    expect(after.value('gateway_deployment_active_requests', { deployment: model })).toBe(0)
  })
})
