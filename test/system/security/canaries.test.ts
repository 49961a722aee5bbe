import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHasher } from '../../../src/lib/crypto.ts'
import { deployment } from '../../support/configuration.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { answer, cutAfter, frames, json, raw, slowBetween } from '../../support/upstream/index.ts'
import { as, type Family, type Pair, pairExists, SALT_KEY, SECRETS, startPair } from '../exactness/pair.ts'

const PROVIDER_KEY = 'sk-provider-canary-5b1e'
const CONTENT = 'content-canary-41d7'
const COOKIE = 'cookie-canary-90aa'
const CHUNK = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'So' } }] }
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const STRANGER = `sk-${'stranger-canary-'.padEnd(43, 'x')}`

describe.skipIf(!pairExists())('what must not be seen', () => {
  let pair: Pair
  let upstream: Upstream
  let family: Family
  let other: Family
  /** Status, headers and text of every answer. */
  const answers: string[] = []
  /** Texts of keys. */
  const keys: string[] = []
  const hashes = () => keys.map(keyHasher(SALT_KEY))

  async function ask(gateway: number, path: string, init: RequestInit = {}): Promise<string> {
    const response = await (pair.gateways[gateway] as Pair['gateways'][number]).fetch(path, init)
    // What is cut in its middle is a stream that says so.
    const text = await response.text()
    answers.push(`${response.status} ${JSON.stringify([...response.headers])} ${text}`)
    return text
  }
  const post = (body: unknown, key?: string): RequestInit => ({
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', cookie: `session=${COOKIE}`, ...(key ? as(key) : {}) },
  })
  const chat = (more: object = {}) => ({
    model: 'group',
    messages: [{ role: 'user', content: CONTENT }],
    user: CONTENT,
    metadata: { note: CONTENT },
    ...more,
  })

  beforeAll(async () => {
    upstream = await startUpstream()
    pair = await startPair({
      general_settings: { log_level: 'debug' },
      router_settings: { cooldown_time: 0, num_retries: 1 },
      gateway_settings: { fallbacks: [{ group: ['second'] }] },
      model_list: [
        deployment(upstream.url, 'group', 'canary-group', { output_cost_per_token: 0.001 }, { api_key: PROVIDER_KEY }),
        deployment(upstream.url, 'second', 'canary-second', {}, { api_key: PROVIDER_KEY }),
      ],
    })
    const limits = { max_budget: 100, rpm_limit: 1000 }
    family = await pair.family({ org: limits, team: limits, user: limits, key: limits })
    other = await pair.family({ key: { rpm_limit: 1, max_budget: 0 } })
    keys.push(family.key, other.key)
    await everything()
    // Records and the last lines of the log are written beside requests.
    await new Promise((resolve) => setTimeout(resolve, 700))
  }, 60_000)
  afterAll(async () => {
    await pair?.close()
    await upstream?.close()
  })

  async function everything(): Promise<void> {
    for (const gateway of [0, 1]) {
      upstream.script('canary-group', [answer()])
      for (const stream of [false, true]) await ask(gateway, '/v1/chat/completions', post(chat({ stream }), family.key))
      await ask(gateway, '/v1/responses', post({ model: 'group', input: CONTENT }, family.key))
      await ask(gateway, '/v1/messages', {
        ...post(chat({ max_tokens: 5 })),
        headers: { 'content-type': 'application/json', authorization: '', 'x-api-key': family.key },
      })
      // Providers that repeat what they were sent.
      const said = `Incorrect API key provided: ${PROVIDER_KEY}.`
      const told = { error: { message: said, type: 'x', code: 'invalid_api_key' } }
      for (const behaviour of [
        json(401, told),
        json(400, told),
        json(429, told),
        json(500, told),
        raw(502, `<html>${PROVIDER_KEY}</html>`),
        json(200, { error: PROVIDER_KEY }),
        answer({}, cutAfter({ frames: 3 })),
        frames(
          [CHUNK, { error: { message: said, type: 'invalid_request_error' } }].map(event),
          {},
          slowBetween({ ms: 30 }),
        ),
      ]) {
        for (const stream of [false, true]) {
          upstream.script('canary-group', [behaviour])
          upstream.script('canary-second', [behaviour])
          await ask(gateway, '/v1/chat/completions', post(chat({ stream, max_tokens: 5 }), family.key))
        }
      }
      upstream.script('canary-group', [answer()])
      await ask(gateway, '/v1/chat/completions', post(`{"model":"${CONTENT}`, family.key))
      await ask(gateway, '/v1/chat/completions', post(chat({ messages: CONTENT }), family.key))
      for (const key of [STRANGER, `${family.key}x`, family.key.slice(0, -1), keyHasher(SALT_KEY)(family.key)]) {
        await ask(gateway, '/v1/chat/completions', post(chat(), key))
        await ask(gateway, '/v1/models', { headers: as(key) })
        await ask(gateway, '/ui/api/keys/x', { headers: as(key) })
      }
      // Where a client puts its own key by mistake.
      await ask(gateway, `/v1/models?api_key=${family.key}`, { headers: as(STRANGER) })
      await ask(gateway, `/v1/models?api_key=${STRANGER}`)
      await ask(gateway, `/${STRANGER}`)
      for (let call = 0; call < 2; call++) await ask(gateway, '/v1/chat/completions', post(chat(), other.key))
      await ask(gateway, '/ui/api/keys', { headers: as(family.key) })
      for (const path of ['/health', '/health/readiness', '/health/deployments', '/health/fallback-events', '/metrics'])
        await ask(gateway, path)
      for (const path of ['keys', 'teams', 'users', 'organizations', 'models', 'route-groups', 'audit/events'])
        await ask(gateway, `/ui/api/${path}`)
      await ask(gateway, `/ui/api/keys/${family.ids.key}`)
      await ask(gateway, '/ui/api/keys', post({ key: STRANGER, key_hash: STRANGER }))
    }
    const made = JSON.parse(await ask(0, '/ui/api/keys', post({ key_name: 'canary' })))
    const again = JSON.parse(await ask(1, `/ui/api/keys/${made.key_id}/regenerate`, post('{}')))
    // The two answers that may show a key.
    answers.splice(-2)
    keys.push(made.key, again.key)
    await ask(0, '/v1/models', { headers: as(made.key) })
    await ask(1, '/v1/models', { headers: as(again.key) })
    await ask(0, `/ui/api/keys/${made.key_id}/revoke`, post('{}'))
    await ask(1, '/v1/models', { headers: as(again.key) })
    await ask(0, '/ui/api/audit/events')
    await ask(1, '/metrics')
  }

  function expectNone(where: string, text: string, canaries: readonly string[]): void {
    for (const canary of canaries) {
      const at = text.indexOf(canary)
      expect(at < 0 ? '' : `${where}: …${text.slice(Math.max(0, at - 200), at + 60)}…`, canary).toBe('')
    }
  }

  it('no answer holds a secret, a key, or what a key is kept under', () => {
    expect(answers.length).toBeGreaterThan(90)
    for (const said of answers) expectNone('answer', said, [...SECRETS, ...keys, ...hashes(), PROVIDER_KEY, COOKIE])
  })

  it('no line of a log holds a secret, a key, its hash, or content', () => {
    for (const gateway of pair.gateways) {
      const text = gateway.output() + gateway.errors()
      expect(text.length).toBeGreaterThan(10_000)
      expectNone('log', text, [...SECRETS, ...keys, ...hashes(), PROVIDER_KEY, COOKIE, CONTENT, STRANGER])
    }
  })

  it('no table holds a secret, a key, or content; only the record of a key holds its hash', async () => {
    const tables = await pair.sql.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
    expect(tables.rows.length).toBeGreaterThan(10)
    let rows = 0
    for (const { name } of tables.rows) {
      const all = await pair.sql.query(`SELECT row_to_json(one)::text AS row FROM "${name}" AS one`)
      rows += all.rows.length
      const text = all.rows.map(({ row }) => row).join('\n')
      expectNone(name, text, [...SECRETS, ...keys, PROVIDER_KEY, COOKIE, CONTENT, STRANGER])
      if (name !== 'gateway_key') expectNone(name, text, hashes())
    }
    expect(rows).toBeGreaterThan(40)
  })

  it('the shared store holds no secret, no key and no content', async () => {
    const dump = JSON.stringify(await pair.raw.dump(''), (_, value) =>
      typeof value === 'string' && /^[\w+/=]{8,}$/.test(value)
        ? Buffer.from(value, 'base64').toString('latin1')
        : value,
    )
    expect(dump.length).toBeGreaterThan(1000)
    expectNone('store', dump, [...SECRETS, ...keys, PROVIDER_KEY, COOKIE, CONTENT, STRANGER])
  })

  it('no upstream hears the credentials or cookies of a client', () => {
    const calls = ['canary-group', 'canary-second'].flatMap(upstream.calls)
    expect(calls.length).toBeGreaterThan(30)
    for (const call of calls) {
      expectNone('upstream', JSON.stringify(call.headers), [...SECRETS, ...keys, COOKIE])
      expect(call.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`)
    }
  })
})
