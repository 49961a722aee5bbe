import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import * as z from 'zod'
import type { RouteContract } from '../../../src/api/route.ts'
import { routes } from '../../../src/app.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import {
  expectClearFailure,
  fuzzGateway,
  HANG_MS,
  internalFailures,
  KINDS,
  parameters,
  uncaught,
} from './support/fuzz-gateway.ts'
import { type JsonSchema, nearSchema } from './support/near-schema.ts'

let world: Awaited<ReturnType<typeof fuzzGateway>>
let gateway: TestGateway
const thrown = uncaught()
beforeAll(async () => {
  world = await fuzzGateway()
  gateway = world.gateway
})
afterAll(async () => {
  thrown.stop()
  await world.close()
})

const everything = routes.map(({ contract }) => contract)
/** What works on the database is asked where there is one. */
const contracts = everything.filter(({ auth, tag }) => auth !== 'admin' && tag !== 'Accounts')
/** What is kept in the database, which this file has a real one for. */
const administration = everything.filter(({ auth, tag }) => auth === 'admin' || tag === 'Accounts')
const model = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('echo', ...KINDS) },
  { weight: 1, arbitrary: fc.string() },
)

const schemaOf = ({ body, json }: RouteContract): JsonSchema =>
  (body || json
    ? z.toJSONSchema((json ?? body?.schema)?.() as z.ZodType, { unrepresentable: 'any', io: 'input' })
    : {}) as JsonSchema

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc.constantFrom('', '{', '[]', 'null', '"x"', '{"model":', `${'['.repeat(5000)}`, '{"model":"echo","model":"echo"}'),
)

const value = fc.oneof(fc.string(), fc.constantFrom('true', '0', '2', 'json', 'srt', 'vtt', 'verbose_json', '[]', '{}'))
const file = fc.uint8Array({ maxLength: 100 }).map((content) => new Blob([content as Uint8Array<ArrayBuffer>]))
const fieldName = fc.oneof(
  fc.constantFrom(
    'language',
    'prompt',
    'response_format',
    'temperature',
    'stream',
    'timestamp_granularities[]',
    'file',
  ),
  fc.constantFrom('include[]', 'chunking_strategy', '__proto__', 'constructor', 'metadata', 'model', 'webhook'),
  fc.string(),
)
const form = fc
  .tuple(model, fc.array(fc.tuple(fieldName, fc.oneof(value, file)), { maxLength: 5 }), fc.boolean())
  .map(([name, fields, complete]) => {
    const data = new FormData()
    if (complete) {
      data.append('model', name)
      data.append('file', new Blob(['sound']), 'a.wav')
    }
    for (const [key, content] of fields) data.append(key, content)
    return data
  })

const types = ['application/json', 'application/json; charset=utf-16', 'text/plain', 'multipart/form-data', '', 'x']
const headers = fc.record(
  {
    'content-type': fc.oneof(fc.constantFrom(...types, 'multipart/form-data; boundary=b'), fc.string()),
    authorization: fc.oneof(fc.constantFrom('Bearer ', 'Basic eA==', `Bearer ${MASTER_KEY} `), fc.string()),
    'x-request-id': fc.string(),
    'x-api-key': fc.string(),
    accept: fc.string(),
    'anthropic-beta': fc.string(),
    'anthropic-version': fc.string(),
    'cache-control': fc.string(),
    cookie: fc.string(),
  },
  { requiredKeys: [] },
)

/** Printable, as any client's library insists. */
const sendable = (given: Record<string, string>) =>
  Object.fromEntries(Object.entries(given).map(([name, text]) => [name, text.replace(/[^\x20-\x7e]/g, '?').trim()]))

interface Asked {
  readonly method: string
  readonly path: string
  readonly init: RequestInit
}

function requestsOf(contract: RouteContract): fc.Arbitrary<Asked> {
  const method = contract.method.toUpperCase()
  const segment = fc.oneof(fc.constantFrom('echo', '..', '%', '%00', '%ff', '%2e%2e', 'a/b'), fc.webSegment())
  const search = fc.oneof(
    fc.constant(''),
    fc.webQueryParameters().map((query) => `?${query}`),
  )
  const path = fc.tuple(segment, search).map(([one, query]) => contract.path.replace(/\{\w+\}/g, () => one) + query)
  if (method === 'GET') {
    return fc.tuple(path, headers).map(([to, given]) => ({ method, path: to, init: { headers: sendable(given) } }))
  }
  const schema = schemaOf(contract)
  const named = fc.oneof(
    { weight: 3, arbitrary: nearSchema(schema, false) },
    { weight: 1, arbitrary: nearSchema(schema, true) },
  )
  const near = fc.tuple(model, named).map(([name, body]) => {
    const asked = typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, model: name } : body
    return { body: JSON.stringify(asked), headers: { 'content-type': 'application/json' } }
  })
  const inits: fc.Arbitrary<RequestInit> = fc.oneof(
    {
      weight: 6,
      arbitrary: contract.body?.contentType === 'multipart/form-data' ? form.map((body) => ({ body })) : near,
    },
    {
      weight: 1,
      arbitrary: fc.tuple(bytes, headers).map(([body, given]) => ({
        body: body as BodyInit,
        headers: { 'content-type': 'application/json', ...sendable(given) },
      })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(bytes)
        .map(([body]) => ({ body: body as BodyInit, headers: { 'content-type': 'multipart/form-data; boundary=b' } })),
    },
  )
  return fc.tuple(path, inits).map(([to, init]) => ({ method, path: to, init }))
}

describe('any request', () => {
  it('gets an answer or a clear refusal, and the gateway lives on', async () => {
    const any = fc.oneof(
      ...contracts.map((contract) => ({ weight: contract.modelCall ? 10 : 1, arbitrary: requestsOf(contract) })),
    )
    await fc.assert(
      fc.asyncProperty(any, async ({ method, path, init }) => {
        const response = await gateway.fetch(path, { ...init, method, signal: AbortSignal.timeout(HANG_MS) })
        const text = await response.text()
        expect(internalFailures(gateway), text).toEqual([])
        // A store that is not configured makes the gateway not ready; that is no failure of a request.
        if (path.startsWith('/health')) return
        if (response.status >= 300) expectClearFailure(response.status, text)
        else expect(response.status).toBe(200)
      }),
      { ...parameters, interruptAfterTimeLimit: 2 * parameters.interruptAfterTimeLimit },
    )
    expect((await gateway.chat({ model: 'echo', messages: [{ role: 'user', content: 'still here' }] })).status).toBe(
      200,
    )
    await gateway.idle()
    expect(thrown.errors).toEqual([])
  }, 60_000)
})

describe.skipIf(inject('postgresUrl') === '')('any request of an administrator', () => {
  let full: FullGateway
  beforeAll(async () => {
    const database = await preparedDatabase(inject('postgresUrl'))
    full = await startFullGateway(`general_settings:\n  database_url: ${database}\nmodel_list: []\n`)
  })
  afterAll(() => full.close())

  it('gets an answer or a clear refusal', async () => {
    const any = fc.oneof(...administration.map((contract) => requestsOf(contract)))
    await fc.assert(
      fc.asyncProperty(any, async ({ method, path, init }) => {
        const response = await full.fetch(path, { ...init, method, signal: AbortSignal.timeout(HANG_MS) })
        const text = await response.text()
        if (response.status >= 300) expectClearFailure(response.status, text)
        expect(response.status, `${method} ${path} ${text}`).toBeLessThan(500)
      }),
      { ...parameters, interruptAfterTimeLimit: parameters.interruptAfterTimeLimit },
    )
  })
})
