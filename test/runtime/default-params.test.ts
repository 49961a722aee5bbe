import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../support/gateway.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { answer, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/defaults-${run}-${name}`
const DEFAULTS = '{ temperature: 0.3, stop: END, max_completion_tokens: 99, seed: 7, reasoning_effort: low }'

const deployment = (name: string, kind: string, base: string) => `  - model_name: ${name}
    gateway_params: { model: ${kind}/up-${name}, api_base: "${upstream.url}${path(name)}${base}", api_key: k }
    model_info: { default_params: ${DEFAULTS} }
`

const gateway = withGateway(
  () =>
    `model_list:\n${deployment('claude', 'anthropic', '')}${deployment('gpt', 'openai', '/v1')}${deployment('plain', 'openai-compatible', '/v1')}`,
)

const messages = [{ role: 'user', content: 'Hello' }]
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}
const response = { id: 'resp_1', object: 'response', status: 'completed', output: [], usage: null }

/** What the provider is asked by a request that leaves everything out. */
async function asked(name: string, to: string, body: object): Promise<unknown> {
  const answered = await gateway.fetch(to, chatInit({ model: name, ...body }))
  expect(answered.status).toBe(200)
  const call = (await upstream.calls(path(name))).at(-1)
  return call && bodyOf(call)
}

describe('defaults of a deployment', () => {
  it('are said in the words of the dialect that its provider speaks', async () => {
    await upstream.script(path('claude'), [json(200, message)])
    expect(await asked('claude', '/v1/messages', { messages })).toEqual({
      model: 'up-claude',
      messages,
      temperature: 0.3,
      stop_sequences: ['END'],
      max_tokens: 99,
    })
    await upstream.script(path('gpt'), [json(200, response)])
    expect(await asked('gpt', '/v1/responses', { input: 'Hello' })).toEqual({
      model: 'up-gpt',
      input: 'Hello',
      temperature: 0.3,
      max_output_tokens: 99,
      reasoning: { effort: 'low' },
    })
  })

  it('give way to what the client says', async () => {
    await upstream.script(path('claude'), [json(200, message)])
    const said = { messages, max_tokens: 5, stop_sequences: ['X'], temperature: 1 }
    expect(await asked('claude', '/v1/messages', said)).toEqual({ model: 'up-claude', ...said })
  })

  it('are no part of a count', async () => {
    await upstream.script(path('claude'), [json(200, { input_tokens: 3 })])
    expect(await asked('claude', '/v1/messages/count_tokens', { messages })).toEqual({ model: 'up-claude', messages })
  })

  it.each([
    ['/v1/messages', { messages, max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['/v1/responses', { input: 'Hello' }, { max_completion_tokens: 99 }],
    ['/v1/completions', { prompt: 'Hello' }, { max_completion_tokens: 99 }],
    ['/v1/chat/completions', { messages }, { max_completion_tokens: 99 }],
    // Both names of one limit would be two limits.
    ['/v1/chat/completions', { messages, max_tokens: 5 }, { max_tokens: 5 }],
  ])('are in the words of chat where %s is asked in chat', async (to, body, limit) => {
    await upstream.script(path('plain'), [answer()])
    const sent = (await asked('plain', to, body)) as Record<string, unknown>
    const { max_tokens, max_completion_tokens, ...rest } = sent
    expect(rest).toMatchObject({ model: 'up-plain', temperature: 0.3, stop: 'END', seed: 7, reasoning_effort: 'low' })
    expect(JSON.parse(JSON.stringify({ max_tokens, max_completion_tokens }))).toEqual(limit)
  })
})

describe("words of chat that are one vendor's", () => {
  const theirs = { reasoning: { max_tokens: 9000, exclude: true }, random_seed: 3, safe_prompt: false }
  const said = { messages, temperature: 1, max_tokens: 5000, stop: 'X' }

  it('are told other vendors in common words, before the defaults', async () => {
    await upstream.script(path('gpt'), [answer()])
    const { max_tokens, ...rest } = said
    expect(await asked('gpt', '/v1/chat/completions', { ...rest, max_completion_tokens: 9, ...theirs })).toEqual({
      model: 'up-gpt',
      ...rest,
      max_completion_tokens: 9,
      reasoning_effort: 'high',
      seed: 3,
    })
    await upstream.script(path('claude'), [json(200, message)])
    const answered = await gateway.chat({ model: 'claude', ...said, ...theirs, reasoning: { enabled: false } })
    expect([answered.status, answered.headers.get('x-gateway-dropped')]).toEqual([200, 'random_seed'])
    expect((await upstream.calls(path('claude'))).map(bodyOf).at(-1)).toMatchObject({ thinking: { type: 'disabled' } })
  })

  it('are named where they are left out, and refused where they are asked for in earnest', async () => {
    await upstream.script(path('gpt'), [answer()])
    const answered = await gateway.chat({
      model: 'gpt',
      messages,
      reasoning: { enabled: true, exclude: true },
      usage: { include: true },
    })
    expect(answered.headers.get('x-gateway-dropped')).toBe('reasoning.exclude, usage')
    const refused = await gateway.chat({ model: 'claude', messages, safe_prompt: true })
    expect(await refused.json()).toMatchObject({ error: { param: 'safe_prompt' } })
  })

  it('have the reasoning told in them, and taken back signed', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    await upstream.script(path('claude'), [json(200, { ...message, content: [thinking, ...message.content] })])
    const detail = { type: 'reasoning.text', format: 'unknown', index: 0 }
    const asking = { model: 'claude', messages, max_tokens: 5000, reasoning: { effort: 'low' } }
    expect(await (await gateway.chat(asking)).json()).toMatchObject({
      choices: [{ message: { reasoning: 'Hm.', reasoning_details: [{ ...detail, text: 'Hm.', signature: 'c2ln' }] } }],
    })
    const pieces = [{ text: 'H' }, { text: 'm.' }, { text: '', signature: 'c2ln' }].map((one) => ({
      ...detail,
      ...one,
    }))
    const answered = { role: 'assistant', content: 'Hi', reasoning_details: pieces }
    await upstream.script(path('claude'), [json(200, message)])
    await gateway.chat({ ...asking, messages: [...messages, answered, ...messages] })
    expect((await upstream.calls(path('claude'))).map(bodyOf).at(-1)).toMatchObject({
      messages: [{}, { content: [thinking, { type: 'text', text: 'Hi' }] }, {}],
    })
  })

  it('ask for the usage of a stream', async () => {
    for (const model of ['gpt', 'plain']) {
      await upstream.script(path(model), [answer()])
      const response = await gateway.chat({ model, messages, stream: true, usage: { include: true } })
      expect([response.headers.get('x-gateway-dropped'), await response.text()]).toEqual([
        null,
        expect.stringContaining('"usage":{"'),
      ])
    }
  })

  it('are left to servers that may know them', async () => {
    await upstream.script(path('plain'), [answer()])
    expect(await asked('plain', '/v1/chat/completions', { ...said, ...theirs })).toMatchObject(theirs)
  })
})
