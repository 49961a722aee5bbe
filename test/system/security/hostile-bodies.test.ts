import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type AdminAnswer, adminApi } from '../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { chatInit } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { expectClearFailure, fuzzGateway, internalFailures, KINDS } from '../fuzz/support/fuzz-gateway.ts'

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('the body of a call', () => {
  let world: Awaited<ReturnType<typeof fuzzGateway>>
  beforeAll(async () => {
    world = await fuzzGateway()
  })
  afterAll(() => world.close())

  /** Whatever it is, and whoever gets it: it is answered, refused clearly, or refused by the provider. */
  async function nobodyFails(path: string, bodyFor: (model: string) => unknown): Promise<void> {
    for (const model of ['echo', ...KINDS]) {
      const response = await world.gateway.fetch(path, chatInit(bodyFor(model)))
      const text = await response.text()
      expect(internalFailures(world.gateway), `${model} ${text}`).toEqual([])
      if (response.status !== 200) expectClearFailure(response.status, text)
    }
  }

  it.each(['__proto__', 'constructor', 'toString'])('may call everything %s', async (type) => {
    const part = { type, text: 'x' }
    const user = { role: 'user', content: 'x' }
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const chat = '/v1/chat/completions'
    await nobodyFails(chat, (model) => ({ model, messages: [{ role: 'user', content: [part] }] }))
    await nobodyFails(chat, (model) => ({ model, messages: [{ role: type, content: 'x' }] }))
    await nobodyFails(chat, (model) => ({ model, messages: [user], tools, tool_choice: type }))
    await nobodyFails(chat, (model) => ({ model, messages: [user], reasoning_effort: type, service_tier: type }))
    await nobodyFails('/v1/messages', (model) => ({ model, messages: [{ role: 'user', content: [part] }] }))
    await nobodyFails('/v1/messages', (model) => ({ model, messages: [user], tool_choice: { type } }))
    await nobodyFails('/v1/responses', (model) => ({ model, input: [{ role: 'user', content: [part] }] }))
  })

  it('names what is wrong with such a type', async () => {
    const messages = [{ role: 'user', content: [{ type: '__proto__' }] }]
    const response = await world.gateway.fetch('/v1/messages', chatInit({ model: 'echo', messages }))
    expect([response.status, (await response.json()).error.type]).toEqual([400, 'invalid_request_error'])
    const choice = { model: 'echo', messages: [{ role: 'user', content: 'x' }], tool_choice: { type: 'constructor' } }
    expect((await world.gateway.fetch('/v1/messages', chatInit(choice))).status).toBe(400)
  })

  // Members this long are read only by those who need them.
  const long = 'x'.repeat(200_000)
  const user = { role: 'user', content: long }
  it.each([null, 5, 'x', {}, { role: 'robot', content: 'x' }])('may hide %j behind a long item', async (item) => {
    await nobodyFails('/v1/chat/completions', (model) => ({ model, messages: [user, item] }))
    await nobodyFails('/v1/chat/completions', (model) => ({
      model,
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'function', function: { name: 'f', description: long } }, item],
    }))
    await nobodyFails('/v1/messages', (model) => ({ model, messages: [user, item] }))
    await nobodyFails('/v1/messages', (model) => ({
      model,
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ name: 'f', description: long }, item],
    }))
    await nobodyFails('/v1/responses', (model) => ({ model, input: [user, item] }))
    await nobodyFails('/v1/rerank', (model) => ({ model, query: 'q', documents: [long, item] }))
  })

  it('may be a long text without a word', async () => {
    for (const stream of [false, true]) {
      const text = { role: 'user', content: ' '.repeat(500_000) }
      await nobodyFails('/v1/chat/completions', (model) => ({ model, stream, messages: [text] }))
    }
  })

  it('is refused by the field of such an item', async () => {
    const body = { model: 'echo', messages: [user, { role: 'robot', content: 'x' }] }
    const response = await world.gateway.fetch('/v1/messages', chatInit(body))
    expect(response.status).toBe(400)
    expect((await response.json()).error.message).toMatch(/^messages\.1\.role: /)
  })

  it('is read before the call where it is billed by it', async () => {
    const body = `{"model":"openai","voice":"v","input":"${long}\\q"}`
    const response = await world.gateway.fetch('/v1/audio/speech', chatInit(body))
    expect([response.status, (await response.json()).error.code]).toEqual([400, 'invalid_json'])
  })

  it.each([3000, 20_000, 60_000])('may be nested %i levels deep', async (levels) => {
    const deep = nested(levels)
    const user = '"messages":[{"role":"user","content":"x"}]'
    const parameters = `{"type":"object","properties":{"a":${deep}}}`
    await nobodyFails(
      '/v1/chat/completions',
      (model) =>
        `{"model":"${model}",${user},"tools":[{"type":"function","function":{"name":"f","parameters":${parameters}}}]}`,
    )
    await nobodyFails(
      '/v1/messages',
      (model) => `{"model":"${model}",${user},"tools":[{"name":"f","input_schema":${parameters}}]}`,
    )
    await nobodyFails('/v1/responses', (model) => `{"model":"${model}","input":"x","whatever":${deep}}`)
    await nobodyFails('/v1/completions', (model) => `{"model":"${model}","prompt":"x","whatever":${deep}}`)
  })
})

describe.skipIf(inject('postgresUrl') === '')('the body of an administrator', () => {
  let full: FullGateway
  const api = adminApi(() => full)
  beforeAll(async () => {
    const database = await preparedDatabase(inject('postgresUrl'))
    full = await startFullGateway(`general_settings:\n  database_url: ${database}
model_list:
  - model_name: echo
    gateway_params: { model: echo/m }
`)
  })
  afterAll(() => full.close())

  const refusal = ({ status, body }: AdminAnswer) => [status, body.error.code]

  it.each([201, 20_000])('is refused when it is nested %i levels deep', async (levels) => {
    const tooDeep = [400, 'nested_too_deeply']
    const deep = nested(levels)
    expect(refusal(await api('POST', '/keys', `{"metadata":{"a":${deep}}}`))).toEqual(tooDeep)
    const model = `{"model_name":"m","gateway_params":{"model":"openai/m"},"model_info":{"default_params":{"a":${deep}}}}`
    expect(refusal(await api('POST', '/models', model))).toEqual(tooDeep)
    expect(refusal(await api('PATCH', '/models/m-1', `{"model_info":{"a":${deep}}}`))).toEqual(tooDeep)
  })

  it.each(['8000y', '99999y', '99999mo'])('is refused where a key is to live for %s', async (duration) => {
    const { status, body } = await api('POST', '/keys', { duration })
    expect([status, body.error?.param]).toEqual([400, 'duration'])
  })

  it.each([2 ** 31, 9_999_999_999, -9_999_999_999])('is refused where a version is %d', async (version) => {
    const params = { model: 'openai/m' }
    const paths = ['/models/versioned', '/route-groups/versioned'] as const
    await api('POST', '/models', { deployment_id: 'versioned', model_name: 'versioned', gateway_params: params })
    await api('POST', '/route-groups', { name: 'versioned', members: [{ model_name: 'echo' }] })
    for (const path of paths) expect(refusal(await api('PATCH', path, { version }))[0], path).toBe(400)
    const policy = '/route-groups/echo/policy'
    expect(refusal(await api('PUT', `${policy}/draft?draft_version=${version}`, {}))[0]).toBe(400)
    expect(refusal(await api('POST', `${policy}/publish?draft_version=${version}`))[0]).toBe(400)
  })

  it('is refused where a name is no text, or none that a path can hold', async () => {
    const params = '"gateway_params":{"model":"openai/m"}'
    expect(refusal(await api('POST', '/models', `{"model_name":"m\\ud800",${params}}`))[0]).toBe(400)
    expect(refusal(await api('POST', '/models', `{"deployment_id":"\\ud800","model_name":"m",${params}}`))[0]).toBe(400)
    for (const name of ['.', '..']) {
      const model = { deployment_id: name, model_name: 'm', gateway_params: { model: 'openai/m' } }
      expect(refusal(await api('POST', '/models', model))[0], name).toBe(400)
      const group = { name, members: [{ model_name: 'echo' }] }
      expect(refusal(await api('POST', '/route-groups', group))[0], name).toBe(400)
    }
    const members = '"members":[{"model_name":"echo"}]'
    expect(refusal(await api('POST', '/route-groups', `{"name":"\\udc00",${members}}`))[0]).toBe(400)
  })
})
