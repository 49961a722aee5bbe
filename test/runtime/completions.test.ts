import { describe, expect, inject, it } from 'vitest'
import { chatInit, configOf } from '../support/gateway.ts'
import { openaiClient } from '../support/openai-client.ts'
import { readStream } from '../support/sse.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { answer, badRequest, cutAfter } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
let model: string
let own: string

const gateway = withGateway(() => {
  const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
  model = `completions-${run}`
  own = `completions-own-${run}`
  const config = configOf(upstream.url, { [model]: [model], [own]: [own] }, 'router_settings: { cooldown_time: 0 }\n')
  // The operator may say that a deployment is for prompts.
  return `${config}    model_info: { mode: completion }\n`
})

const complete = (body: object) => gateway.fetch('/v1/completions', chatInit({ model, ...body }))
const sent = async (name = model) => bodyOf((await upstream.calls(name)).at(-1) as never)

async function refusalOf(response: Response) {
  const { error } = (await response.json()) as { error: object }
  return { status: response.status, ...error }
}

describe('POST /v1/completions', () => {
  it('asks with one user message and answers with text', async () => {
    await upstream.script(model, [answer({ text: 'Grüße 🙂' })])
    const response = await complete({ prompt: ['one', 'two'], max_tokens: 9, temperature: 0, stop: ['x'], echo: false })
    const body = await response.json()
    expect(await sent()).toEqual({
      model,
      messages: [{ role: 'user', content: 'one\ntwo' }],
      max_tokens: 9,
      temperature: 0,
      stop: ['x'],
    })
    expect(body).toMatchObject({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      model,
      choices: [{ index: 0, text: 'Grüße 🙂', logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: expect.any(Number) },
    })
    await gateway.idle()
    const finished = gateway.logs.findLast((line) => line.event === 'call.finished')
    expect(finished).toMatchObject({
      endpoint: '/v1/completions',
      mode: 'completion',
      usage: { estimated: false, inputTokens: (body as { usage: { prompt_tokens: number } }).usage.prompt_tokens },
    })
  })

  it('gives the official client every choice, whole and streamed', async () => {
    await upstream.script(model, [answer({ text: 'yes' })])
    const client = openaiClient(gateway)
    const whole = await client.completions.create({ model, prompt: 'p', n: 2 })
    expect(whole.choices.map(({ index, text }) => [index, text])).toEqual([
      [0, 'yes'],
      [1, 'yes'],
    ])
    await upstream.script(model, [answer({ text: 'a b c', finishReason: 'length' })])
    const chunks = []
    const asked = { model, prompt: 'p', stream: true as const, stream_options: { include_usage: true } }
    for await (const chunk of await client.completions.create(asked)) chunks.push(chunk)
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe('a b c')
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean)).toEqual(['length'])
    expect(chunks.at(-1)).toMatchObject({ object: 'text_completion', choices: [], usage: { completion_tokens: 3 } })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  it('hides the usage from a client that did not ask, and ends with [DONE]', async () => {
    await upstream.script(model, [answer({ text: 'a b' })])
    const { events } = await readStream(await complete({ prompt: 'p', stream: true }))
    expect(events.at(-1)?.data).toBe('[DONE]')
    expect(events.slice(0, -1).map(({ data }) => JSON.parse(data).choices[0].text)).toEqual(['a', ' b', ''])
    expect(events.some(({ data }) => data.includes('usage'))).toBe(false)
    expect(await sent()).toMatchObject({ stream_options: { include_usage: true } })
  })

  it.each([
    ['echo', true],
    ['best_of', 2],
    ['logprobs', 0],
    ['logprobs', 5],
    ['suffix', 'end'],
    ['tools', [{ type: 'function', function: { name: 'f' } }]],
    ['prompt', [1, 2, 3]],
    ['prompt', [[1], [2]]],
    ['prompt', undefined],
  ])('refuses %s: %j, and asks nobody', async (param, value) => {
    const before = (await upstream.calls(model)).length
    const response = await complete({ prompt: 'p', [param]: value })
    expect(await refusalOf(response)).toMatchObject({ status: 400, type: 'invalid_request_error', param })
    expect(await upstream.calls(model)).toHaveLength(before)
  })

  it.each([{ echo: null }, { best_of: 1 }, { logprobs: null }, { suffix: '' }, { suffix: null }])(
    'takes %j as not set',
    async (unset) => {
      await upstream.script(model, [answer({})])
      expect((await complete({ prompt: 'p', ...unset })).status).toBe(200)
      expect(await sent()).toEqual({ model, messages: [{ role: 'user', content: 'p' }] })
    },
  )

  it('keeps metadata from the provider unless the answer is stored there', async () => {
    await upstream.script(model, [answer({})])
    const metadata = { tags: [], topic: 'demo' }
    await complete({ prompt: 'p', metadata })
    expect(await sent()).not.toHaveProperty('metadata')
    await complete({ prompt: 'p', metadata, store: true })
    expect(await sent()).toMatchObject({ store: true, metadata: { topic: 'demo' } })
    expect(await sent()).not.toHaveProperty('metadata.tags')
  })

  it('asks a deployment that is for prompts, which chat does not reach', async () => {
    expect((await complete({ model: own, prompt: 'p' })).status).toBe(200)
    const messages = [{ role: 'user', content: 'p' }]
    expect(await refusalOf(await gateway.chat({ model: own, messages }))).toMatchObject({ code: 'unsupported_mode' })
  })

  it('tells the provider’s refusal, and an answer that was cut', async () => {
    await upstream.script(model, [badRequest()])
    expect((await complete({ prompt: 'p' })).status).toBe(400)
    await upstream.script(model, [answer({ text: 'a b c d' }, cutAfter({ frames: 3 }))])
    const { text, events } = await readStream(await complete({ prompt: 'p', stream: true }))
    expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'upstream_truncated' } })
    expect(text).not.toContain('[DONE]')
  })
})
