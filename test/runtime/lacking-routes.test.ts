import { beforeEach, describe, expect, inject, it } from 'vitest'
import { configuration } from '../support/configuration.ts'
import { chatInit } from '../support/gateway.ts'
import { openaiClient } from '../support/openai-client.ts'
import { answer, json, reset, serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const messages = [{ role: 'user', content: 'Hi' }]
const gateway = withGateway()
let serial = 0
let [base, other] = ['', '']

beforeEach(async () => {
  serial += 1
  base = `/lacking-${run}-${serial}-one`
  other = `/lacking-${run}-${serial}-two`
  const entry = (model_name: string, kind: string, at: string, priority = 0) => ({
    model_name,
    deployment_id: `${model_name}-${kind}${priority || ''}`,
    gateway_params: { model: `${kind}/there`, api_base: upstream.url + at, api_key: 'sk-canary-12' },
    model_info: { priority },
  })
  await gateway.restart(
    configuration({
      router_settings: { routing_strategy: 'priority-based-routing', cooldown_time: 60, allowed_fails: 0 },
      model_list: [
        entry('one', 'openai', base),
        entry('two', 'openai', base, 0),
        entry('two', 'openai', other, 1),
        entry('claude', 'anthropic', base),
      ].map((one, index) => ({ ...one, deployment_id: `${one.deployment_id}-${index}` })),
    }),
  )
  for (const at of [base, other]) await upstream.script(`${at}/chat/completions`, [answer({ text: 'In chat' })])
})

const NO_ROUTE = json(404, { detail: 'Not Found' })
const asked = async (path: string) => (await upstream.calls(path)).length
const failures = async (id: string) => {
  await gateway.idle()
  return (await gateway.store.signals([id]))[0]?.failures
}
const respond = (body: object) => gateway.fetch('/v1/responses', chatInit({ model: 'one', input: 'Hi', ...body }))

describe('an address of kind openai that has no responses', () => {
  it.each([
    ['404', NO_ROUTE],
    ['405', json(405, { error: { message: 'Method Not Allowed' } })],
  ])('and says so with %s is asked in chat, in the same attempt, and from then on at once', async (_, refusal) => {
    await upstream.script(`${base}/responses`, [refusal])
    const first = await respond({})
    expect([first.status, first.headers.get('x-gateway-attempts')]).toEqual([200, '1'])
    expect(await first.json()).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'In chat' }] }] })
    const second = openaiClient(gateway).responses.stream({ model: 'one', input: 'Hi' })
    expect(await second.finalResponse()).toMatchObject({ output_text: 'In chat' })
    expect([await asked(`${base}/responses`), await asked(`${base}/chat/completions`)]).toEqual([1, 2])
    expect(await failures('one-openai-0')).toBe(0)
  })

  it('fails by what chat answers, where that fails too', async () => {
    await upstream.script(`${base}/responses`, [NO_ROUTE])
    await upstream.script(`${base}/chat/completions`, [serverError()])
    expect((await respond({})).status).toBe(502)
    expect(await failures('one-openai-0')).toBe(1)
  })

  it('is left alone with what chat cannot say, for which nobody is blamed', async () => {
    for (const at of [base, other]) await upstream.script(`${at}/responses`, [NO_ROUTE])
    await upstream.script(`${other}/responses`, [
      json(200, { id: `resp_${run}${serial}`, object: 'response', status: 'completed', output: [] }),
    ])
    const body = { model: 'two', input: 'Hi', tools: [{ type: 'web_search' }] }
    for (let turn = 0; turn < 2; turn++) {
      const response = await gateway.fetch('/v1/responses', chatInit(body))
      await response.text()
      expect([response.status, response.headers.get('x-gateway-deployment')]).toEqual([200, 'two-openai1-2'])
    }
    expect(await asked(`${base}/responses`)).toBe(1)
    expect(await failures('two-openai-1')).toBe(0)
    expect((await respond({ tools: [{ type: 'web_search' }] })).status).toBe(502)
    expect((await respond({ tools: [{ type: 'web_search' }] })).status).toBe(400)
    expect(await failures('one-openai-0')).toBe(0)
  })

  it('keeps what its provider says of a response that it has not', async () => {
    await upstream.script(`${base}/responses`, [
      json(404, {
        error: { message: "Item with id 'rs_1' not found.", type: 'invalid_request_error', param: 'input' },
      }),
    ])
    expect((await respond({})).status).toBe(404)
    expect(await asked(`${base}/chat/completions`)).toBe(0)
    expect(await failures('one-openai-0')).toBe(0)
  })
})

it('an address of kind anthropic that counts no tokens is not blamed for it, and they are estimated', async () => {
  await upstream.script(`${base}/v1/messages/count_tokens`, [NO_ROUTE])
  const count = () => gateway.fetch('/v1/messages/count_tokens', chatInit({ model: 'claude', messages }))
  for (let turn = 0; turn < 3; turn++) {
    const response = await count()
    expect([response.status, response.headers.get('x-gateway-estimated')]).toEqual([200, '1'])
    expect(await response.json()).toEqual({ input_tokens: expect.any(Number) })
  }
  expect(await asked(`${base}/v1/messages/count_tokens`)).toBe(1)
  expect(await failures('claude-anthropic-3')).toBe(0)
})

describe('a deployment that answers clients', () => {
  const picture = () => gateway.fetch('/v1/images/generations', chatInit({ model: 'one', prompt: 'A cat' }))
  const refusals = [
    ['404', json(404, { error: { message: 'Not Found' } })],
    ['403', json(403, { error: { message: 'You are not allowed to generate images from this model' } })],
  ] as const

  it.each(refusals)('is not cooled by whoever asks it for another kind of thing (%s)', async (_, refusal) => {
    await upstream.script(`${base}/images`, [refusal])
    for (let turn = 0; turn < 2; turn++) await (await gateway.chat({ model: 'one', messages })).text()
    await gateway.idle()
    for (let turn = 0; turn < 3; turn++) expect((await picture()).status).toBe(502)
    expect(await failures('one-openai-0')).toBe(0)
    expect((await gateway.chat({ model: 'one', messages })).status).toBe(200)
  })

  it.each(refusals)('is cooled where it never has (%s)', async (_, refusal) => {
    await upstream.script(`${base}/images`, [refusal])
    expect((await picture()).status).toBe(502)
    expect(await failures('one-openai-0')).toBe(1)
  })

  it.each([
    ['is not cooled by a connection that breaks over a long request', 1_100_000, 0],
    ['is cooled by one that breaks over a short one', 10, 1],
  ])('%s', async (_, letters, failed) => {
    await (await gateway.chat({ model: 'one', messages })).text()
    await gateway.idle()
    await upstream.script(`${base}/chat/completions`, [reset()])
    const long = [{ role: 'user', content: 'x'.repeat(letters) }]
    expect((await gateway.chat({ model: 'one', messages: long })).status).toBe(502)
    expect(await failures('one-openai-0')).toBe(failed)
  })

  it('is cooled by a refused key, whatever it was asked for', async () => {
    await (await gateway.chat({ model: 'one', messages })).text()
    await gateway.idle()
    await upstream.script(`${base}/images`, [json(401, { error: { message: 'Invalid key' } })])
    expect((await picture()).status).toBe(502)
    expect(await failures('one-openai-0')).toBe(1)
  })
})
