import { describe, expect, inject, it } from 'vitest'
import { MODEL_MODES } from '../../../../src/config/sections/model-list.ts'
import { providers } from '../../../../src/providers/index.ts'
import { loadConfig } from '../../../../src/routing/configuration.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { registryOf } from '../../../support/registry.ts'
import { answer, json, raw } from '../../../support/upstream/index.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const KEY = 'sk-draft-canary-77d1e09b'

const gateway = withFullGateway('model_list: [{ model_name: of-file, gateway_params: { model: echo/m } }]')
const ask = adminApi(() => gateway)

describe('the kinds of providers, as data', () => {
  it('are all there, each with a name, what it serves and what it takes', async () => {
    const { status, body } = await ask('GET', '/providers')
    expect(status).toBe(200)
    expect(body.data.map(({ kind }: { kind: string }) => kind)).toEqual([...providers.keys()].sort())
    for (const one of body.data) {
      expect(one.label, one.kind).not.toBe('')
      expect(one.modes.length, one.kind).toBeGreaterThan(0)
      for (const field of one.fields) expect(field.meaning, `${one.kind} ${field.name}`).toMatch(/\.$/)
      const names = one.fields.map(({ name }: { name: string }) => name)
      for (const set of one.credentials) for (const name of set) expect(names).toContain(name)
    }
    const bedrock = body.data.find(({ kind }: { kind: string }) => kind === 'bedrock')
    expect(bedrock).toMatchObject({
      label: 'Amazon Bedrock',
      speaks: ['chat'],
      modes: ['chat', 'completion', 'embedding', 'rerank'],
      credentials: [['api_key'], ['aws_access_key_id', 'aws_secret_access_key']],
    })
    const secrets = bedrock.fields.flatMap((field: { name: string; secret: boolean }) =>
      field.secret ? field.name : [],
    )
    expect(secrets).toEqual(['api_key', 'aws_secret_access_key', 'aws_session_token', 'headers'])
  })

  it('say which fields a deployment needs: with them it is one, without any of them it is none', async () => {
    const { body } = await ask('GET', '/providers')
    const values: Record<string, string> = { api_base: 'https://api.example.com/v1', region: 'us-east-1' }
    const configured = (kind: string, names: readonly string[]) => {
      const params = Object.fromEntries(names.map((name) => [name, values[name] ?? `the-${name}`]))
      const yaml = JSON.stringify({
        model_list: [{ model_name: 'm', gateway_params: { model: `${kind}/m`, ...params } }],
      })
      registryOf(loadConfig(yaml, {}), providers)
    }
    let refused = 0
    for (const { kind, fields, credentials } of body.data) {
      const required = fields.flatMap((field: { name: string; required: boolean }) =>
        field.required ? field.name : [],
      )
      for (const set of credentials.length > 0 ? credentials : [[]]) configured(kind, [...required, ...set])
      for (const left of required) {
        const others = required.filter((name: string) => name !== left)
        expect(() => configured(kind, [...others, ...(credentials[0] ?? [])]), `${kind} without ${left}`).toThrow()
        refused += 1
      }
    }
    expect(refused).toBeGreaterThan(3)
  })
})

describe('the price table', () => {
  it('is searched and paged, with its date', async () => {
    const all: string[] = []
    let cursor = ''
    do {
      const { body } = await ask('GET', `/prices?limit=50&cursor=${encodeURIComponent(cursor)}`)
      expect(body.as_of).toMatch(/^\d{4}-\d\d$/)
      all.push(...body.data.map((row: { provider: string; model: string }) => `${row.provider} ${row.model}`))
      cursor = body.next_cursor
    } while (cursor)
    expect(all.length).toBeGreaterThan(100)
    expect(all).toEqual([...new Set(all)].sort())
    const { body } = await ask('GET', '/prices?search=GPT-4O-MINI&provider=openai')
    expect(body.data).toContainEqual({
      provider: 'openai',
      model: 'gpt-4o-mini',
      prices: { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7, cached_input_cost_per_token: 7.5e-8 },
    })
  })

  it('finds the row that prices a dated name', async () => {
    const { body } = await ask('GET', '/prices?provider=anthropic&model=claude-sonnet-4-5-20250929')
    expect(body.data).toMatchObject([{ model: 'claude-sonnet-4-5', prices: { input_cost_per_token: 3e-6 } }])
    expect((await ask('GET', '/prices?provider=openai&model=no-such')).body.data).toEqual([])
    const based = await ask('GET', '/prices?provider=azure&model=prod&base_model=azure/gpt-4o')
    expect(based.body.data).toMatchObject([{ provider: 'openai', model: 'gpt-4o' }])
  })
})

describe("a provider's list of models", () => {
  const listed = (kind: string, path: string, params: object = {}) =>
    ask('POST', `/providers/${kind}/models`, {
      gateway_params: { api_base: `${upstream.url}/${path}`, api_key: KEY, ...params },
    })

  it('is asked for with the credentials of the draft, and says what each takes', async () => {
    await upstream.script('/list-openai', [
      json(200, { object: 'list', data: [{ id: 'gpt-4o-2024-08-06' }, { id: 'a-model' }, { object: 'no id' }] }),
    ])
    const { status, body } = await listed('openai', 'list-openai/v1')
    expect([status, body]).toEqual([
      200,
      {
        listed: true,
        reason: null,
        failure: null,
        address: `${upstream.url}/list-openai/v1/models`,
        models: [
          { id: 'a-model', name: null, mode: null, priced: false },
          { id: 'gpt-4o-2024-08-06', name: null, mode: null, priced: true },
        ],
      },
    ])
    const [call] = await upstream.calls('/list-openai')
    expect([call?.method, call?.headers.authorization]).toEqual(['GET', `Bearer ${KEY}`])
  })

  it('is read in every shape that vendors write', async () => {
    const shapes: [kind: string, answers: unknown[], models: unknown[], params?: object][] = [
      [
        'together',
        [
          [
            { id: 'x/chat', type: 'chat', display_name: 'Chat' },
            { id: 'x/embed', type: 'embedding' },
          ],
        ],
        [
          ['x/chat', 'Chat', 'chat'],
          ['x/embed', null, 'embedding'],
        ],
      ],
      [
        'anthropic',
        [{ data: [{ id: 'claude-x', display_name: 'Claude X' }], has_more: false }],
        [['claude-x', 'Claude X', null]],
      ],
      [
        'gemini',
        [
          {
            models: [
              { name: 'models/gemini-x', displayName: 'Gemini X', supportedGenerationMethods: ['generateContent'] },
              { name: 'models/embed-x', supportedGenerationMethods: ['embedContent'] },
              { name: 'models/aqa', supportedGenerationMethods: ['generateAnswer'] },
            ],
          },
        ],
        [
          ['embed-x', null, 'embedding'],
          ['gemini-x', 'Gemini X', 'chat'],
        ],
      ],
      [
        'cohere',
        [
          {
            models: [
              { name: 'rerank-x', endpoints: ['rerank'] },
              { name: 'command-x', endpoints: ['chat', 'generate'] },
            ],
          },
        ],
        [
          ['command-x', null, 'chat'],
          ['rerank-x', null, 'rerank'],
        ],
      ],
      [
        'elevenlabs',
        [[{ model_id: 'eleven-x', name: 'Eleven X', can_do_text_to_speech: true }]],
        [['eleven-x', 'Eleven X', 'audio_speech']],
      ],
      [
        'deepgram',
        [
          { tts: [{ canonical_name: 'aura-x', name: 'x' }], stt: [] },
          { stt: [{ canonical_name: 'nova-x', name: 'general' }] },
        ],
        [
          ['aura-x', 'x', 'audio_speech'],
          ['nova-x', 'general', 'audio_transcription'],
        ],
      ],
    ]
    for (const [kind, answers, models, params] of shapes) {
      await upstream.script(
        `/list-${kind}`,
        answers.map((answer) => json(200, answer as object)),
      )
      const { body } = await listed(kind, `list-${kind}`, params)
      expect([kind, body.failure]).toEqual([kind, null])
      const found = body.models.map((one: Record<string, unknown>) => [one.id, one.name, one.mode])
      expect([kind, found]).toEqual([kind, models])
    }
  })

  it('says why there is none, and what is wrong where it is refused', async () => {
    const none = await ask('POST', '/providers/voyage/models', { gateway_params: { api_key: KEY } })
    expect(none.body).toMatchObject({ listed: false, failure: null, address: null, models: [] })
    expect(none.body.reason).toContain('type the name')
    const azure = await listed('azure', 'list-azure')
    expect(azure.body.reason).toContain("deployment's name")
    await upstream.script('/list-refused', [json(401, { error: { message: `Incorrect API key provided: ${KEY}` } })])
    const { body } = await listed('openai', 'list-refused/v1')
    expect(body).toMatchObject({
      listed: false,
      failure: { code: 'upstream_refused', words: 'Incorrect API key provided: [secret]' },
    })
    expect(body.failure.advice).toContain('Replace api_key')
    await upstream.script('/list-broken', [json(200, 'no list'), raw(200, '{', { 'content-type': 'application/json' })])
    expect((await listed('openai', 'list-broken/v1')).body).toMatchObject({ listed: true, models: [] })
    expect((await listed('openai', 'list-broken/v1')).body.failure.code).toBe('upstream_malformed')
    expect((await ask('POST', '/providers/nobody/models', {})).status).toBe(404)
    const reference = await listed('openai', 'x', { api_key: 'os.environ/SECRET' })
    expect([reference.status, reference.body.error.param]).toEqual([400, 'gateway_params.api_key'])
  })
})

describe('a test of a deployment that is not saved', () => {
  const draft = (path: string, more: { params?: object; info?: object; test?: object; model?: string } = {}) => ({
    model_name: 'draft',
    gateway_params: {
      model: `openai-compatible/${more.model ?? 'served-model'}`,
      api_base: `${upstream.url}/${path}`,
      api_key: KEY,
      ...more.params,
    },
    model_info: more.info ?? {},
    ...(more.test ? { test: more.test } : {}),
  })
  const PRICES = { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 }

  it('tells what a call would meet: address, status, times, model, usage, price', async () => {
    await upstream.script('/test-good', [answer({ text: 'Hello there' })])
    const { status, body } = await ask('POST', '/models/test', draft('test-good/v1', { info: PRICES }))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ok: true,
      mode: 'chat',
      streamed: true,
      address: `${upstream.url}/test-good/v1/chat/completions`,
      status: 200,
      model: 'served-model',
      failure: null,
    })
    expect(body.first_token_ms).toBeGreaterThanOrEqual(0)
    expect(body.total_ms).toBeGreaterThanOrEqual(body.first_token_ms)
    const { input_tokens: input, output_tokens: output } = body.usage
    expect(input + output).toBeGreaterThan(1)
    expect(body.cost).toBeCloseTo(input * 1e-6 + output * 2e-6, 12)
    const whole = await ask('POST', '/models/test', draft('test-good/v1', { test: { stream: false } }))
    expect(whole.body).toMatchObject({
      ok: true,
      streamed: false,
      first_token_ms: null,
      cost: null,
      model: 'served-model',
    })
  })

  it('asks every kind of request', async () => {
    const asked: string[] = []
    await upstream.script('/test-image_generation', [json(200, { created: 1, data: [{ b64_json: 'aGk=' }] })])
    await upstream.script('/test-audio_speech', [raw(200, 'sound', { 'content-type': 'audio/mpeg' })])
    await upstream.script('/test-audio_transcription', [json(200, { text: 'silence' })])
    await upstream.script('/test-rerank', [json(200, { results: [{ index: 0, relevance_score: 1 }] })])
    await upstream.script('/test-moderation', [json(200, { results: [{ flagged: false }] })])
    for (const mode of MODEL_MODES) {
      const { body } = await ask('POST', '/models/test', draft(`test-${mode}/v1`, { info: { mode } }))
      expect([mode, body.ok, body.failure]).toEqual([mode, true, null])
      if (mode === 'audio_transcription') expect(body.usage.audio_seconds).toBe(0.5)
      if (mode === 'audio_speech') expect([body.usage.characters, body.first_token_ms !== null]).toEqual([2, true])
      const [call] = await upstream.calls(`/test-${mode}`)
      asked.push(`${call?.path.split('/v1')[1]}`)
    }
    expect(asked).toEqual([
      '/chat/completions',
      '/chat/completions',
      '/embeddings',
      '/images/generations',
      '/audio/speech',
      '/audio/transcriptions',
      '/rerank',
      '/moderations',
    ])
  })

  it('says of each failure what it is, in whose words, and what to change', async () => {
    const page = { 'content-type': 'text/html' }
    const failures: [
      path: string,
      behaviours: Parameters<typeof upstream.script>[1],
      expected: object,
      advice: string,
    ][] = [
      [
        '401',
        [json(401, { error: { message: `Incorrect API key provided: ${KEY}` } })],
        { status: 401, failure: { code: 'upstream_refused', words: 'Incorrect API key provided: [secret]' } },
        'api_key',
      ],
      [
        '404',
        [json(404, { error: { message: 'The model `x` does not exist' } })],
        { status: 404, failure: { code: 'upstream_refused', words: 'The model `x` does not exist' } },
        "model's name",
      ],
      [
        'page',
        [raw(200, '<!doctype html><html><head><title>Welcome to nginx</title>', page)],
        { status: 200, failure: { code: 'upstream_malformed', words: 'Welcome to nginx' } },
        'api_base',
      ],
      [
        '429',
        [json(429, { error: { message: 'Slow down' } })],
        { status: 429, failure: { code: 'upstream_rate_limited', words: 'Slow down' } },
        'limit',
      ],
      [
        '400',
        [json(400, { error: { message: 'no such field', param: 'x' } })],
        { status: 400, failure: { words: 'no such field', param: 'x' } },
        'refuses this request',
      ],
      [
        '500',
        [json(500, { detail: [{ msg: 'exploded' }] })],
        { status: 500, failure: { code: 'upstream_failed', words: 'exploded' } },
        'Try again',
      ],
      [
        'slow',
        [{ say: { kind: 'nothing', ending: 'hang' }, changes: [] }],
        { status: null, failure: { code: 'upstream_timeout' } },
        'slow',
      ],
    ]
    for (const [path, behaviours, expected, advice] of failures) {
      await upstream.script(`/test-bad-${path}`, behaviours)
      const begun = Date.now()
      const { status, body } = await ask(
        'POST',
        '/models/test',
        draft(`test-bad-${path}/v1`, { test: { timeout_seconds: 0.5 } }),
      )
      expect([path, status]).toEqual([path, 200])
      expect(body, path).toMatchObject({ ok: false, ...expected })
      expect(body.failure.advice, path).toContain(advice)
      expect(JSON.stringify(body), path).not.toContain(KEY)
      expect(Date.now() - begun, path).toBeLessThan(10_000)
    }
    const dead = await ask('POST', '/models/test', draft('', { params: { api_base: 'http://127.0.0.1:1/v1' } }))
    expect(dead.body).toMatchObject({
      ok: false,
      status: null,
      address: 'http://127.0.0.1:1/v1/chat/completions',
      failure: { code: 'upstream_unreachable' },
    })
    expect(dead.body.failure.words).toContain('ECONNREFUSED')
  })

  it('refuses what could not be saved either, naming the field', async () => {
    const refused: [draft: object, param: string][] = [
      [draft('x', { params: { api_base: 'http://example.com/v1' } }), 'gateway_params.api_base'],
      [draft('x', { params: { api_key: 'os.environ/HOME' } }), 'gateway_params.api_key'],
      [draft('x', { params: { api_key: '[secret]' } }), 'gateway_params.api_key'],
      [draft('x', { params: { unknown: 1 } }), 'gateway_params.unknown'],
      [draft('x', { test: { timeout_seconds: 1000 } }), 'test.timeout_seconds'],
      [
        { ...draft('x', { info: { mode: 'rerank' } }), gateway_params: { model: 'anthropic/claude', api_key: KEY } },
        'model_info.mode',
      ],
    ]
    for (const [body, param] of refused) {
      const answer = await ask('POST', '/models/test', body)
      expect([answer.status, answer.body.error?.param]).toEqual([400, param])
    }
  })

  it('uses the stored secret for its mask, at the stored address only', async () => {
    await upstream.script('/test-kept', [answer()])
    const kept = { ...draft('test-kept/v1'), deployment_id: 'kept' }
    expect((await ask('POST', '/models', kept)).status).toBe(201)
    const masked = { ...kept, gateway_params: { ...kept.gateway_params, api_key: '[secret]' } }
    expect((await ask('POST', '/models/test', masked)).body.ok).toBe(true)
    const [call] = await upstream.calls('/test-kept')
    expect(call?.headers.authorization).toBe(`Bearer ${KEY}`)
    const elsewhere = { ...masked, gateway_params: { ...masked.gateway_params, api_base: 'http://127.0.0.1:1/v1' } }
    expect(await ask('POST', '/models/test', elsewhere)).toMatchObject({
      status: 400,
      body: { error: { param: 'gateway_params.api_key' } },
    })
    const listed = { deployment_id: 'kept', gateway_params: masked.gateway_params }
    expect((await ask('POST', '/providers/openai-compatible/models', listed)).status).toBe(200)
  })

  it('leaves nothing but an audit event: no call, no spend, no cooldown', async () => {
    await gateway.idle()
    expect((await ask('GET', '/logs?limit=10')).body.data).toEqual([])
    const events = (await ask('GET', '/audit/events?action=model.test&limit=200')).body.data
    expect(events.length).toBeGreaterThan(10)
    expect(JSON.stringify(events)).not.toContain(KEY)
  })
})
