import { describe, expect, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../support/gateway.ts'
import { withGateway } from '../support/with-gateway.ts'

const yaml = `
general_settings:
  max_json_bytes: 2000
model_list:
  - model_name: echo
    gateway_params: { model: echo/echo }
`
const messages = [{ role: 'user', content: 'Hello' }]

const gateway = withGateway(() => yaml)

async function errorOf(response: Response) {
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(response.headers.get('x-request-id')).toBeTruthy()
  const body = (await response.json()) as { error: Record<string, unknown> }
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type'])
  return { status: response.status, ...body.error }
}

describe('every path answers in the one error shape', () => {
  const cases: [string, () => Promise<Response>, object][] = [
    ['malformed JSON', () => gateway.chat('{"model":"echo","messages":['), { status: 400, code: 'invalid_json' }],
    ['JSON that is no object', () => gateway.chat('[1]'), { status: 400, type: 'invalid_request_error' }],
    [
      'bytes that are no UTF-8',
      () =>
        gateway.fetch('/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: new Uint8Array([0x22, 0xff, 0x22]),
        }),
      { status: 400, code: 'invalid_json' },
    ],
    ['an empty body', () => gateway.chat(''), { status: 400, code: 'invalid_json' }],
    ['a missing field', () => gateway.chat({ model: 'echo' }), { status: 400, param: 'messages' }],
    ['a wrong type', () => gateway.chat({ model: 7, messages }), { status: 400, param: 'model' }],
    [
      'a wrong type deep inside',
      () => gateway.chat({ model: 'echo', messages: [{ role: 1 }] }),
      { status: 400, param: 'messages.0.role' },
    ],
    [
      'another model in capital letters',
      () => gateway.chat({ model: 'echo', messages, MODEL: 'other' }),
      { status: 400, param: 'MODEL' },
    ],
    [
      'an unknown model',
      () => gateway.chat({ model: 'nope', messages }),
      { status: 404, code: 'model_not_found', param: 'model' },
    ],
    [
      'a model named like a property',
      () => gateway.chat({ model: '__proto__', messages }),
      { status: 404, code: 'model_not_found' },
    ],
    [
      'a wrong media type',
      () =>
        gateway.fetch('/v1/chat/completions', {
          method: 'POST',
          body: 'model=echo',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      { status: 415, code: 'unsupported_media_type' },
    ],
    [
      'a compressed body',
      () =>
        gateway.fetch('/v1/chat/completions', {
          method: 'POST',
          body: '\u001f\u008b',
          headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        }),
      { status: 415, code: 'unsupported_media_type' },
    ],
    [
      'an oversized body',
      () => gateway.chat({ model: 'echo', messages, padding: 'x'.repeat(3000) }),
      { status: 413, code: 'payload_too_large' },
    ],
    [
      'tags that nothing has',
      () => gateway.chat({ model: 'echo', messages, metadata: { tags: ['x'] } }),
      { status: 503, code: 'no_matching_deployment' },
    ],
    ['an unknown path', () => gateway.fetch('/v1/nothing'), { status: 404, type: 'not_found_error' }],
    ['the root', () => gateway.fetch('/'), { status: 404, type: 'not_found_error' }],
    ['a wrong method', () => gateway.fetch('/v1/chat/completions'), { status: 405, code: 'method_not_allowed' }],
    ['an unknown model by name', () => gateway.fetch('/v1/models/nope'), { status: 404, code: 'model_not_found' }],
    [
      'no key',
      () => gateway.fetch('/v1/models', { headers: { authorization: '' } }),
      { status: 401, code: 'missing_api_key', type: 'authentication_error' },
    ],
    [
      'another scheme',
      () => gateway.fetch('/v1/models', { headers: { authorization: `Basic ${MASTER_KEY}` } }),
      { status: 401, code: 'missing_api_key' },
    ],
    [
      'a wrong key',
      () => gateway.fetch('/v1/models', { headers: { authorization: 'Bearer sk-wrong' } }),
      { status: 401, code: 'invalid_api_key' },
    ],
    [
      'a key that shares its beginning',
      () => gateway.fetch('/v1/models', { headers: { authorization: `Bearer ${MASTER_KEY}x` } }),
      { status: 401, code: 'invalid_api_key' },
    ],
    [
      'a huge key',
      () => gateway.fetch('/v1/models', { headers: { authorization: `Bearer ${'k'.repeat(12_000)}` } }),
      { status: 401, code: 'invalid_api_key' },
    ],
  ]
  it.each(cases)('%s', async (_, ask, expected) => {
    expect(await errorOf(await ask())).toMatchObject(expected)
  })

  it('names the methods that a path takes', async () => {
    const response = await gateway.fetch('/v1/chat/completions', { method: 'DELETE' })
    expect(response.headers.get('allow')).toBe('POST')
  })

  it.each([
    '//v1/models',
    '/v1//models',
    '/v1/models/',
    '/V1/models',
    '/v1/%6dodels',
    '/v1/models;x',
    '/x/../v1/models',
    '/v1/models%2f..',
  ])('never lets %s pass without a key', async (path) => {
    const response = await gateway.fetch(path, { headers: { authorization: '' } })
    expect([401, 404]).toContain(response.status)
  })
})

describe('x-request-id', () => {
  it('is the client’s own where that is short and printable', async () => {
    const response = await gateway.chat({ model: 'echo', messages }, { headers: { 'x-request-id': 'mine-42' } })
    expect(response.headers.get('x-request-id')).toBe('mine-42')
  })

  it.each(['x'.repeat(129), 'with space', 'tab\there'])('is ours instead of %j', async (id) => {
    const response = await gateway.chat({ model: 'echo', messages }, { headers: { 'x-request-id': id } })
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  })

  it('is in the log line of the request', async () => {
    await (await gateway.chat({ model: 'echo', messages }, { headers: { 'x-request-id': 'logged-1' } })).text()
    await gateway.idle()
    expect(gateway.logs.filter(({ requestId }) => requestId === 'logged-1')).toHaveLength(1)
  })
})

describe('what is logged', () => {
  it('holds neither content nor credentials, whatever was sent', async () => {
    const canary = 'canary-4711'
    await (await gateway.chat({ model: 'echo', messages: [{ role: 'user', content: canary }] })).text()
    await gateway.chat({ model: canary, messages })
    await gateway.chat(`{"${canary}`)
    await gateway.fetch(`/${canary}?key=${canary}`, { headers: { authorization: `Bearer ${canary}` } })
    await gateway.fetch('/v1/models', { headers: { authorization: `Bearer ${canary}`, cookie: canary } })
    await gateway.idle()
    expect(gateway.logs.length).toBeGreaterThan(4)
    expect(JSON.stringify(gateway.logs)).not.toContain(canary)
    expect(JSON.stringify(gateway.logs)).not.toContain(MASTER_KEY)
  })
})

describe('the documentation', () => {
  it('is an OpenAPI 3.1 document of every route', async () => {
    const document = (await (await gateway.fetch('/openapi.json')).json()) as {
      openapi: string
      paths: Record<string, Record<string, { responses: object; security?: object }>>
    }
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toContain('/v1/chat/completions')
    expect(document.paths['/v1/chat/completions']?.post?.security).toEqual([{ key: [] }])
    expect(document.paths['/health']?.get?.security).toEqual([])
    const answers = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.values(operations).flatMap(({ responses }) =>
        Object.entries(responses).flatMap(([status, one]) => (status === '202' ? [] : { path, ...one })),
      ),
    )
    for (const answer of answers) expect(answer, 'an answer is a body of some form').toHaveProperty('content')
    expect(document.paths['/v1/chat/completions']?.post?.responses).toMatchObject({
      200: { content: { 'application/json': {}, 'text/event-stream': {} } },
    })
    for (const [path, operations] of Object.entries(document.paths)) {
      if (path.includes('{')) continue
      for (const method of Object.keys(operations)) {
        const response = await gateway.fetch(
          path,
          method === 'get' ? {} : chatInit({ model: 'echo', messages }, { method: method.toUpperCase() }),
        )
        expect(await response.text(), `${method} ${path}`).not.toContain('There is nothing at this path')
      }
    }
  })

  it('comes with the schema of the configuration file and a page that asks nobody else', async () => {
    const schema = (await (await gateway.fetch('/gateway.schema.json')).json()) as { properties: object }
    expect(Object.keys(schema.properties)).toEqual([
      'general_settings',
      'router_settings',
      'gateway_settings',
      'model_list',
    ])
    const page = await (await gateway.fetch('/docs')).text()
    expect(page).not.toMatch(/https?:\/\//)
  })
})

describe('health', () => {
  it('tells that it lives and that its stores answer', async () => {
    expect((await gateway.fetch('/health/liveliness')).status).toBe(200)
    expect(await (await gateway.fetch('/health/readiness')).json()).toEqual({
      status: 'ok',
      checks: { redis: true, database: true },
    })
    expect(await (await gateway.fetch('/health')).json()).toEqual({
      liveliness: 'ok',
      readiness: { status: 'ok', checks: { redis: true, database: true } },
    })
  })
})
