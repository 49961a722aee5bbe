import fc from 'fast-check'
import { describe, expect, inject, it, vi } from 'vitest'
import { dialectPath, readdressing } from '../../src/api/addresses.ts'
import type { ModelRoute } from '../../src/api/v1/model-route.ts'
import { routes } from '../../src/app.ts'
import { adminApi } from '../support/admin-api.ts'
import { json, raw } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withFullGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const UPSTREAM = '/addresses'
const MODEL = 'vendor/any'

const readdress = readdressing(routes)
const pathOf = (path: string) => readdress(new Request(`http://gateway.test${path}`))
const modelRoutes = routes.filter((route): route is ModelRoute => 'endpoint' in route)
const isVersioned = (path: string) => /^\/v\d(beta)?\//.test(path)

/** Every address of a path in OpenAI's shape, by what is told of them. */
function addressesOf({ contract }: ModelRoute): string[] {
  const { path } = contract
  const rest = path.replace(/^\/v\d/, '')
  const all = [`${path}/`]
  if (path.startsWith('/v1beta/')) return [...all, `/gemini${path}`, `/gemini/v1${path.slice('/v1beta'.length)}`]
  if (!path.startsWith('/v1/')) return all
  all.push(rest, `${rest}/`, `/openai${path}`, `/openai${rest}`)
  if (contract.errorBody === undefined)
    all.push(...[MODEL, encodeURIComponent(MODEL)].map((name) => `/openai/deployments/${name}${rest}?api-version=x`))
  if (rest.startsWith('/messages')) all.push(`/anthropic${path}`, `/anthropic${path}/`)
  return rest === '/rerank' ? [...all, '/v2/rerank'] : all
}

describe('an address', () => {
  const others = routes.map(({ contract }) => contract.path).filter((path) => !isVersioned(path))

  it('of a call leads to its path', () => {
    for (const route of modelRoutes) {
      for (const address of addressesOf(route)) {
        const expected = address.startsWith('/openai/deployments/')
          ? `/openai/deployments/${encodeURIComponent(MODEL)}${route.contract.path.slice(3)}`
          : route.contract.path
        expect([address, pathOf(address)]).toEqual([address, expected])
      }
    }
    expect(pathOf('/models/vendor/any')).toBe('/v1/models/vendor/any')
    expect(pathOf('/files/file-1/content/')).toBe('/v1/files/file-1/content')
    expect(pathOf('/openai/batches')).toBe('/v1/batches')
    expect(pathOf('/anthropic/v1/models/')).toBe('/v1/models')
    expect(pathOf('/gemini/v1beta/models/')).toBe('/v1beta/models')
  })

  it.each([...others, '/', '/docs', '/openapi.json', '/console', '/console/models', '/console/models/x'])(
    'of the gateway itself, %s, is no other',
    (path) => {
      for (const one of [path, `${path}/`]) expect(pathOf(one)).toBe(one)
    },
  )

  it.each([
    '/anthropic/v1/files',
    '/anthropic/v1/chat/completions',
    '/anthropic/messages',
    '/openai/deployments/x',
    '/gemini/v1beta/files',
    '/gemini/models',
    '/v1/',
  ])('that no vendor has, %s, stays unknown', (path) => expect(pathOf(path)).toBe(path))

  it.each([
    ['/v1/messages/batches', '/v1/messages'],
    ['/anthropic/v1/files', '/v1/messages'],
    ['/v1beta/files', '/v1beta/models'],
    ['/v1/messages', ''],
    ['/v1/chat/messages/x', ''],
  ])('%s that is unknown is refused as %j is', (path, dialect) =>
    expect(dialectPath(`http://gateway.test${path}`)).toBe(dialect),
  )

  it('is found once: what it leads to leads nowhere else', () => {
    const part = fc.constantFrom(
      'v1',
      'v2',
      'v1beta',
      'openai',
      'gemini',
      'anthropic',
      'deployments',
      'chat',
      'completions',
      'models',
      'x',
      '%',
      '',
    )
    const paths = fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`)
    fc.assert(fc.property(paths, (path) => void expect(pathOf(pathOf(path))).toBe(pathOf(path))))
  })
})

const gateway = withFullGateway(
  () => `model_list:
  - model_name: ${MODEL}
    gateway_params: { model: openai-compatible/there, api_base: "${upstream.url}${UPSTREAM}/v1", api_key: sk-canary }
    model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.002, cost_per_image: 0.03, cost_per_audio_second: 0.01, cost_per_character: 0.001, cost_per_rerank_unit: 0.004 }
`,
)

const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }
/** One answer that is true of every kind of request. */
const ANSWER = {
  id: 'x-1',
  object: 'chat.completion',
  created: 1,
  model: 'there',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  data: [{ object: 'embedding', index: 0, embedding: [1] }],
  results: [{ index: 0, relevance_score: 1 }],
  text: 'Hi',
  usage,
}
const messages = [{ role: 'user', content: 'Hello' }]
const content = { parts: [{ text: 'Hello' }] }
const FIELDS = {
  ...{ content, contents: [content], requests: [{ content }] },
  ...{
    messages,
    max_tokens: 5,
    input: 'Hello',
    prompt: 'Hello',
    voice: 'alloy',
    query: 'q',
    documents: ['d'],
    texts: ['t'],
  },
}
const OWN: Readonly<Record<string, readonly (keyof typeof FIELDS)[]>> = {
  '/v1/chat/completions': ['messages'],
  '/v1/messages': ['messages', 'max_tokens'],
  '/v1/messages/count_tokens': ['messages'],
  '/v1/completions': ['prompt'],
  '/v1/images/generations': ['prompt'],
  '/v1/audio/speech': ['input', 'voice'],
  '/v1/rerank': ['query', 'documents'],
  '/v2/chat': ['messages'],
  '/v2/embed': ['texts'],
  '/v1beta/models/{model}:generateContent': ['contents'],
  '/v1beta/models/{model}:streamGenerateContent': ['contents'],
  '/v1beta/models/{model}:countTokens': ['contents'],
  '/v1beta/models/{model}:embedContent': ['content'],
  '/v1beta/models/{model}:batchEmbedContents': ['requests'],
}

function requestOf({ contract, endpoint }: ModelRoute, key: string, named: boolean): RequestInit {
  const [header] = [contract.credentialHeader ?? 'api-key'].flat()
  const credential = header === undefined ? { authorization: `Bearer ${key}` } : { [header]: key, authorization: '' }
  const model = named ? {} : { model: MODEL }
  if (endpoint.mode.body === 'multipart') {
    const body = new FormData()
    body.append(endpoint.mode.form?.file ?? 'file', new Blob(['sound']), 'a.bin')
    body.append('prompt', 'Hello')
    for (const value of Object.values(model)) body.append(endpoint.mode.form?.model ?? 'model', value)
    return { method: 'POST', headers: credential, body }
  }
  const fields = (OWN[contract.path] ?? ['input']).map((name) => [name, FIELDS[name]])
  const headers = { ...credential, 'content-type': 'application/json' }
  return { method: 'POST', headers, body: JSON.stringify({ ...Object.fromEntries(fields), ...model }) }
}

it('has every call admitted, counted and billed as at its path, whatever its address', async () => {
  const admin = adminApi(() => gateway)
  const { key, key_id } = (await admin('POST', '/keys', { rpm_limit: 10_000, max_budget: 1000 })).body
  let left = 10_000
  const expected: { endpoint: string; mode: string; costs: number; calls: number }[] = []
  for (const route of modelRoutes) {
    const { path } = route.contract
    const sound = raw(200, 'sound', { 'content-type': 'audio/mpeg' })
    await upstream.script(UPSTREAM, [path === '/v1/audio/speech' ? sound : json(200, ANSWER)])
    const addresses = [path, ...addressesOf(route)]
    for (const address of addresses) {
      const named = address.startsWith('/openai/deployments/') || address.includes('{model}')
      const response = await gateway.fetch(address.replace('{model}', MODEL), requestOf(route, key, named))
      const told = await response.text()
      left -= 1
      const remaining = Number(response.headers.get('x-ratelimit-remaining-requests'))
      expect([address, response.status, remaining, told.slice(0, 200)]).toEqual([
        address,
        200,
        left,
        expect.any(String),
      ])
    }
    const { path: endpoint, mode } = route.endpoint
    const line = expected.find((one) => one.endpoint === endpoint)
    if (line) line.calls += addresses.length
    else expected.push({ endpoint, mode: mode.name, costs: 1, calls: addresses.length })
  }
  const lines = await ledgerOf(key_id, 10_000 - left)
  const byPath = (one: object, other: object) => JSON.stringify(one).localeCompare(JSON.stringify(other))
  const sorted = (list: readonly object[]) => list.map((line) => ({ ...line })).sort(byPath)
  expect(sorted(lines)).toEqual(sorted(expected))
})

/** The calls of a key by endpoint, once so many are written. */
async function ledgerOf(keyId: string, calls: number): Promise<readonly { readonly calls: number }[]> {
  const statement = {
    sql: `SELECT endpoint, mode, count(*)::int AS calls, count(DISTINCT coalesce(cost_nano, -1))::int AS costs
      FROM gateway_spend WHERE key_id = $1 GROUP BY endpoint, mode`,
    parameters: [keyId],
  }
  return vi.waitFor(
    async () => {
      const { rows } = await gateway.sql.query<{ calls: number }>(statement)
      expect(rows.reduce((sum, line) => sum + line.calls, 0)).toBe(calls)
      return rows
    },
    { timeout: 10_000, interval: 50 },
  )
}
