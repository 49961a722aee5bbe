import { beforeAll, describe, expect, inject, it } from 'vitest'
import { chatInit } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { json } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const postgresUrl = inject('postgresUrl')
const upstream = upstreamClient(inject('upstreamUrl'))
const decoder = new TextDecoder()
const ODD = '{{shop}} \\{{ "quoted"\n\u2028\0\ud83d {"a":1} 😀'

describe.skipIf(!postgresUrl)('calls with prompts', () => {
  const gateway = withFullGateway(async () => {
    const entry = (name: string, kind: string, base: string, more = '') =>
      `  - { model_name: ${name}, gateway_params: { model: ${kind}/up-${name}, api_base: "${upstream.url}/prompts-${name}${base}", api_key: k }${more} }\n`
    return `
general_settings: { embeddings_batch_enabled: true, database_url: '${await preparedDatabase(postgresUrl)}' }
model_list:
${entry('gpt', 'openai', '/v1')}${entry('claude', 'anthropic', '')}${entry('other', 'openai-compatible', '/v1', ', model_info: { input_cost_per_token: 0.01, output_cost_per_token: 0 }')}  - { model_name: echo, gateway_params: { model: echo/echo } }
`
  })

  const ui = async (method: string, path: string, body?: object) => {
    const response = await gateway.fetch(`/ui/api${path}`, {
      ...chatInit(body ?? {}),
      method,
      ...(body ? {} : { body: null }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
    return { status: response.status, body: (await response.json()) as any }
  }
  async function call(path: string, body: object) {
    const response = await gateway.fetch(path, chatInit(body))
    return { status: response.status, prompt: response.headers.get('x-gateway-prompt'), text: await response.text() }
  }
  /** The last body that an upstream was sent. */
  async function sent(name: string): Promise<string> {
    return decoder.decode((await upstream.calls(`/prompts-${name}`)).at(-1)?.body)
  }
  const metadata = { prompt_ref: 'shop:live', prompt_variables: { shop: ODD } }
  const system = { role: 'system', content: `For ${ODD}.` }
  const message = {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 7 },
  }
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt',
    output: [],
    usage: null,
  }

  beforeAll(async () => {
    const messages = [{ role: 'system', content: 'For {{shop}}.' }]
    expect((await ui('POST', '/prompts', { key: 'shop', messages, labels: ['live'] })).status).toBe(201)
    await upstream.script(
      '/prompts-claude',
      Array.from({ length: 3 }, () => json(200, message)),
    )
  })

  it('of chat arrive at a provider of chat with the bytes of the client', async () => {
    const own = '{"role":"user","content":"\\u0048i","n":12345678901234567890}'
    const body = `{"model":"gpt","messages":[${own}],"seed":1.0,"metadata":${JSON.stringify({ ...metadata, mine: 'x' })}, "y" :[1e2]}`
    const answer = await gateway.fetch('/v1/chat/completions', chatInit(body))
    expect([answer.status, answer.headers.get('x-gateway-prompt')]).toEqual([200, 'shop@1'])
    await answer.text()
    expect(await sent('gpt')).toBe(
      `{"model":"up-gpt","messages":[${JSON.stringify(system)},${own}],"seed":1.0,"y" :[1e2]}`,
    )
  })

  it('that are stored there are stored without what named the prompt', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    await call('/v1/chat/completions', { model: 'gpt', messages, store: true, metadata: { ...metadata, mine: 'x' } })
    expect(JSON.parse(await sent('gpt')).metadata).toEqual({ mine: 'x' })
  })

  it('of messages arrive at a provider of messages, and of chat, and from there the other way round', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const body = { messages, max_tokens: 9, metadata: { ...metadata, user_id: 'u' } }
    const own = [{ type: 'text', text: 'own' }]
    expect(await call('/v1/messages', { ...body, model: 'claude', system: own })).toMatchObject({
      status: 200,
      prompt: 'shop@1',
    })
    expect(JSON.parse(await sent('claude'))).toEqual({
      model: 'up-claude',
      system: [{ type: 'text', text: system.content }, ...own],
      messages,
      max_tokens: 9,
      metadata: { user_id: 'u' },
    })
    expect((await call('/v1/messages', { ...body, model: 'other' })).status).toBe(200)
    expect(JSON.parse(await sent('other')).messages).toEqual([system, ...messages])
    expect((await call('/v1/chat/completions', { ...body, model: 'claude' })).status).toBe(200)
    const translated = JSON.parse(await sent('claude'))
    expect(JSON.stringify(translated.system)).toContain(JSON.stringify(system.content))
    expect(translated.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
  })

  it('of responses arrive at a provider of responses, and of chat', async () => {
    await upstream.script('/prompts-gpt', [json(200, response)])
    const body = { input: 'Hi', metadata, unknown: { a: [1] } }
    expect(await call('/v1/responses', { ...body, model: 'gpt' })).toMatchObject({ status: 200, prompt: 'shop@1' })
    expect(JSON.parse(await sent('gpt'))).toEqual({
      model: 'up-gpt',
      instructions: system.content,
      input: 'Hi',
      unknown: { a: [1] },
    })
    expect((await call('/v1/responses', { input: 'Hi', metadata, model: 'other' })).status).toBe(200)
    expect(JSON.parse(await sent('other')).messages).toEqual([system, { role: 'user', content: 'Hi' }])
  })

  it('of completions have it before their prompt; streams too', async () => {
    expect((await call('/v1/completions', { model: 'other', prompt: 'Hi', metadata })).prompt).toBe('shop@1')
    expect(JSON.parse(await sent('other')).messages).toEqual([{ role: 'user', content: `${system.content}\n\nHi` }])
    const messages = [{ role: 'user', content: 'Hi' }]
    const streamed = await call('/v1/chat/completions', { model: 'other', stream: true, messages, metadata })
    expect(streamed).toMatchObject({ status: 200, prompt: 'shop@1' })
    expect(JSON.parse(await sent('other')).messages).toEqual([system, ...messages])
  })

  it('a group names one by its policy, which the call overrides; a policy names only what there is', async () => {
    const policy = '/route-groups/echo/policy'
    expect(await ui('PUT', `${policy}/draft`, { prompt_ref: 'shop@7' })).toMatchObject({
      status: 400,
      body: { error: { param: 'prompt_ref' } },
    })
    expect((await ui('POST', `${policy}/validate`, { prompt_ref: 'nobody' })).status).toBe(400)
    expect((await ui('PUT', `${policy}/draft`, { prompt_ref: 'shop' })).status).toBe(200)
    expect((await ui('POST', `${policy}/publish`)).body).toMatchObject({ effective: { prompt_ref: 'shop' } })
    const ask = (more: object) =>
      call('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'Hi' }], ...more })
    expect(await ask({ metadata: { prompt_variables: { shop: 'x' } } })).toMatchObject({
      status: 200,
      prompt: 'shop@1',
    })
    const refused = await ask({})
    expect([refused.status, JSON.parse(refused.text).error.param]).toEqual([400, 'metadata.prompt_variables.shop'])
    await ui('POST', '/prompts', { key: 'own', messages: [{ role: 'user', content: 'own' }] })
    expect(await ask({ metadata: { prompt_ref: 'own' } })).toMatchObject({ status: 200, prompt: 'own@1' })
    expect((await ask({ metadata: { prompt_ref: 'nobody' } })).status).toBe(400)
  })

  it('money is held for what is sent, while limits count what the client sent', async () => {
    const long = { key: 'long', messages: [{ role: 'system', content: 'x'.repeat(40_000) }] }
    expect((await ui('POST', '/prompts', long)).status).toBe(201)
    const { body: made } = await ui('POST', '/keys', { max_budget: 1, tpm_limit: 1000 })
    const ask = (more: object) =>
      gateway.fetch('/v1/chat/completions', {
        ...chatInit({ model: 'other', messages: [{ role: 'user', content: 'Hi' }], ...more }),
        headers: { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' },
      })
    // Thousands of tokens of a cent each are more than the budget; the client sent a few.
    const refused = await ask({ metadata: { prompt_ref: 'long' } })
    expect([refused.status, (await refused.json()) as object]).toMatchObject([429, { error: { param: 'key_budget' } }])
    expect((await ask({})).status).toBe(200)
  })

  it('are in the ledger, its filter and the metrics by what served them', async () => {
    const logged = async (prompt: string) => (await ui('GET', `/logs?prompt=${prompt}&limit=200`)).body.data
    await expect.poll(async () => (await logged('own%401')).length).toBe(1)
    await expect.poll(async () => (await logged('shop%401')).length).toBeGreaterThan(8)
    expect(await logged('own%401')).toMatchObject([{ prompt: 'own@1', model: 'echo' }])
    const metrics = await (await gateway.fetch('/metrics')).text()
    expect(metrics).toMatch(/gateway_prompt_resolutions_total\{prompt="shop",status="ok"\} (?:9|1\d)\n/)
    expect(metrics).toContain('gateway_prompt_resolutions_total{prompt="shop",status="invalid_variables"} 1\n')
    expect(metrics).toContain('gateway_prompt_resolutions_total{prompt="",status="not_found"} 1\n')
    expect(metrics).toMatch(/gateway_prompt_resolution_latency_seconds_count [1-9]/)
  })

  it('a batch has them in its lines', async () => {
    const line = (custom_id: string, metadata: object) =>
      JSON.stringify({
        custom_id,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model: 'echo', messages: [{ role: 'user', content: 'Hi' }], metadata },
      })
    const { body: key } = await ui('POST', '/keys', {})
    const own = async (path: string, init: RequestInit = {}) =>
      (
        await fetch(gateway.url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key.key}` } })
      ).text()
    async function ended(...lines: readonly string[]) {
      const form = new FormData()
      form.set('purpose', 'batch')
      form.set('file', new Blob([lines.join('\n')]), 'lines.jsonl')
      const file = JSON.parse(await own('/v1/files', { method: 'POST', body: form }))
      const batch = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' }
      const { id } = JSON.parse(await own('/v1/batches', chatInit(batch)))
      const now = async () => JSON.parse(await own(`/v1/batches/${id}`))
      await expect
        .poll(async () => (await now()).status, { timeout: 15_000, interval: 200 })
        .toMatch(/completed|failed/)
      return now()
    }
    const refused = await ended(
      line('good', metadata),
      line('bad', { prompt_ref: 'shop', prompt_variables: { shop: 1 } }),
    )
    expect(refused).toMatchObject({ status: 'failed', request_counts: { completed: 0 } })
    expect(refused.errors.data).toMatchObject([
      { line: 2, param: expect.stringContaining('metadata.prompt_variables.shop') },
    ])
    const made = await ended(line('good', metadata))
    expect(made).toMatchObject({ status: 'completed', request_counts: { total: 1, completed: 1, failed: 0 } })
    expect(await own(`/v1/files/${made.output_file_id}/content`)).toContain('"custom_id":"good"')
    const { data } = (await ui('GET', `/logs?batch_id=${made.id}`)).body
    expect(data).toMatchObject([{ prompt: 'shop@1' }])
  })
})
