import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../../src/app.ts'
import { LIMIT_FIELDS, type LimitField } from '../../../src/limits/limited-scope.ts'
import { deployment, echo } from '../../support/configuration.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { as, awayFromTheHour, LEVELS, type Level, type Pair, pairExists, spread, startPair, statusOf } from './pair.ts'

const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] })
const TOKENS = Math.floor(body.length / 4)
const SECONDS = { rpm: 60, tpm: 60, rph: 3600, rpd: 86_400, tpd: 86_400 } as const
const dimensionOf = (field: LimitField) => field.replace('_limit', '') as keyof typeof SECONDS
const isTokens = (field: LimitField) => field.startsWith('t')

/** A limit that as many calls pass; of tokens with one left over that is no call's. */
const limitFor = (field: LimitField, calls: number) => (isTokens(field) ? calls * TOKENS + TOKENS - 1 : calls)

describe.skipIf(!pairExists())('limits over two processes', () => {
  let pair: Pair
  let upstream: Upstream

  beforeAll(async () => {
    upstream = await startUpstream()
    pair = await startPair({
      general_settings: { max_json_bytes: 10_000, log_level: 'warn' },
      model_list: [
        echo('echo', 'echo-1'),
        deployment(upstream.url, 'failing', 'limits-failing', {}, { timeout: 5 }),
        deployment(upstream.url, 'group', 'limits-upstream'),
      ],
    })
    await awayFromTheHour()
  })
  afterEach(() => pair.expectShared())
  afterAll(async () => {
    await pair?.close()
    await upstream?.close()
  })

  const chat = (gateway: Pair['gateways'][number], key: string, headers: Record<string, string> = {}, text = body) =>
    gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      body: text,
      headers: { ...as(key), 'content-type': 'application/json', ...headers },
    })

  const table = LEVELS.flatMap((level) => LIMIT_FIELDS.map((field) => ({ level, field })))

  it.each(table)(
    'of 60 calls at once exactly 7 pass a $field of the $level, and what is refused changes nothing',
    async ({ level, field }) => {
      const limits = { [field]: limitFor(field, 7) }
      const { key } = await pair.family({ [level]: limits })
      const scope = `${level}_${dimensionOf(field)}`
      const answers = await spread(pair, 60, async (gateway) => {
        const response = await chat(gateway, key)
        return { response, body: await response.json() }
      })
      const passed = answers.filter(({ response }) => response.status === 200)
      const refused = answers.filter(({ response }) => response.status === 429)
      expect([passed.length, refused.length]).toEqual([7, 53])
      for (const { response, body } of refused) {
        expect(body).toEqual({
          error: {
            message: `Rate limit exceeded for scope '${scope}'`,
            type: 'rate_limit_error',
            param: scope,
            code: `${scope}_exceeded`,
          },
        })
        expectRetryAfter(response, field)
        expect(response.headers.get('x-gateway-ratelimit-scope')).toBe(scope)
      }

      await settled()
      const before = await pair.raw.dump('gateway:')
      expect(
        await Promise.all([...pair.gateways, ...pair.gateways].map((gateway) => statusOf(chat(gateway, key)))),
      ).toEqual([429, 429, 429, 429])
      expect(await pair.raw.dump('gateway:')).toEqual(before)
    },
  )

  it('of 500 calls at once exactly 100 pass', async () => {
    const { key } = await pair.family({ team: { rpm_limit: 100 }, key: { rpd_limit: 400, tpd_limit: 1_000_000 } })
    const answers = await spread(pair, 500, (gateway) => statusOf(chat(gateway, key)))
    expect(answers.filter((status) => status === 200)).toHaveLength(100)
    expect(answers.filter((status) => status === 429)).toHaveLength(400)
  })

  it('of several scopes the tightest holds; the others count only what passed all of them', async () => {
    const { key } = await pair.family({
      org: { rpm_limit: 1000 },
      team: { rph_limit: 30 },
      user: { tpd_limit: 1_000_000 },
      key: { rpm_limit: 11 },
    })
    const answers = await spread(pair, 60, (gateway) => statusOf(chat(gateway, key)))
    expect(answers.filter((status) => status === 200)).toHaveLength(11)
    const refused = await chat(pair.gateways[1], key)
    expect(await refused.json()).toMatchObject({ error: { param: 'key_rpm' } })
    expect(refused.headers.get('x-gateway-ratelimit-scope')).toBe('org_rpm,team_rph,user_tpd,key_rpm')
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe(String(1_000_000 - 11 * TOKENS))
  })

  it('scopes refuse in the order org, team, user, key, and their windows in that of rpm, tpm, rph, rpd, tpd', async () => {
    const none = Object.fromEntries(LIMIT_FIELDS.map((field) => [field, 0]))
    for (const [at, level] of LEVELS.entries()) {
      const limits = Object.fromEntries(LEVELS.slice(at).map((one) => [one, none]))
      const { key } = await pair.family(limits)
      expect(await (await chat(pair.gateways[0], key)).json()).toMatchObject({ error: { param: `${level}_rpm` } })
    }
    for (const [at, field] of LIMIT_FIELDS.entries()) {
      const { key } = await pair.family({ key: Object.fromEntries(LIMIT_FIELDS.slice(at).map((one) => [one, 0])) })
      const answer = await (await chat(pair.gateways[1], key)).json()
      expect(answer).toMatchObject({ error: { param: `key_${dimensionOf(field)}` } })
    }
  })

  it.each(table)('null is no $field of the $level, and 0 blocks', async ({ level, field }) => {
    const free = await pair.family({ [level]: { [field]: null } })
    const answer = await chat(pair.gateways[0], free.key)
    expect(answer.status).toBe(200)
    expect([...answer.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([])
    const blocked = await pair.family({ [level]: { [field]: 0 } })
    const refused = await chat(pair.gateways[1], blocked.key)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: { code: `${level}_${dimensionOf(field)}_exceeded` } })
    expectRetryAfter(refused, field)
  })

  it('headers go by the arithmetic of the specification', async () => {
    const limits: Record<Level, Partial<Record<LimitField, number>>> = {
      org: { rpm_limit: 20, tpm_limit: 31 * TOKENS },
      team: { rph_limit: 14, tpd_limit: 900 * TOKENS },
      user: { rpd_limit: 17 },
      key: { rpm_limit: 12, tpm_limit: 13 * TOKENS + 1 },
    }
    const { key } = await pair.family(limits)
    const states = LEVELS.flatMap((level) =>
      LIMIT_FIELDS.filter((field) => limits[level][field] !== undefined).map((field) => ({
        scope: `${level}_${dimensionOf(field)}`,
        field,
        limit: limits[level][field] as number,
        used: 0,
      })),
    )
    const startedAt = Date.now()
    for (let call = 1; call <= 13; call++) {
      const response = await chat(pair.gateways[call % 2] as Pair['gateways'][number], key)
      await response.arrayBuffer()
      const passes = call <= 12
      expect(response.status).toBe(passes ? 200 : 429)
      if (passes) for (const state of states) state.used += isTokens(state.field) ? TOKENS : 1
      const tightest = (tokens: boolean) =>
        states
          .filter(({ field }) => isTokens(field) === tokens)
          .reduce((one, next) => (left(next) / next.limit < left(one) / one.limit ? next : one))
      for (const [unit, state] of [['requests', tightest(false)] as const, ['tokens', tightest(true)] as const]) {
        const header = (name: string) => response.headers.get(`x-ratelimit-${name}-${unit}`)
        expect([header('limit'), header('remaining')]).toEqual([String(state.limit), String(left(state))])
        expectReset(Number(header('reset')), state.field, startedAt)
      }
      const warned = states.some(({ used, limit }) => used > 0.8 * limit)
      expect(response.headers.get('x-ratelimit-warning'), `call ${call}`).toBe(warned ? 'near_limit' : null)
      expect(response.headers.get('x-gateway-ratelimit-scope')).toBe(states.map(({ scope }) => scope).join(','))
      expect(response.headers.has('retry-after')).toBe(!passes)
    }
  })

  it('a length that a client only announces costs no tokens', async () => {
    const { key } = await pair.family({ team: { tpm_limit: 10_000 } })
    const announce = async (requestLine: string, headers = '') => {
      const { hostname, port } = new URL(await pair.gateways[0].base())
      const socket = connect(Number(port), hostname)
      socket.write(
        `${requestLine} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${headers}Content-Length: 30000\r\n\r\n`,
      )
      const [statusLine] = (await once(socket, 'data')).toString().split('\r\n', 1)
      socket.destroy()
      return statusLine
    }
    const asJson = 'Content-Type: application/json\r\n'
    expect(await announce('GET /v1/models')).toBe('HTTP/1.1 200 OK')
    expect(await announce('GET /health/deployments', asJson)).toBe('HTTP/1.1 200 OK')
    expect(await announce('POST /ui/api/keys', asJson)).toBe('HTTP/1.1 403 Forbidden')
    expect(await announce('POST /v1/chat/completions')).toBe('HTTP/1.1 415 Unsupported Media Type')
    const answered = await chat(pair.gateways[1], key)
    expect(answered.headers.get('x-ratelimit-remaining-tokens')).toBe(String(10_000 - 4 - TOKENS))
  })

  it('warns above 80 % of any limit, not at it', async () => {
    const { key } = await pair.family({ key: { rpm_limit: 10 } })
    const warnings = []
    for (let call = 0; call < 11; call++) {
      warnings.push((await chat(pair.gateways[0], key)).headers.get('x-ratelimit-warning'))
    }
    expect(warnings).toEqual([...Array(8).fill(null), 'near_limit', 'near_limit', 'near_limit'])
  })

  describe('on every endpoint', () => {
    const callers = routes.map(({ contract }) => contract).filter(({ auth }) => auth === 'caller')

    const form = () => {
      const data = new FormData()
      data.append('model', 'nobody')
      data.append('file', new Blob(['x'.repeat(4000)]), 'a.wav')
      return data
    }
    /** A request that the route authenticates. What becomes of it then is not the question. */
    const request = ({ method, path, body: contract }: (typeof callers)[number], key: string) => {
      const multipart = contract?.contentType === 'multipart/form-data'
      const sent = method === 'get' ? {} : { body: multipart ? form() : '{"model":"nobody"}' }
      const type = method === 'get' || multipart ? {} : { 'content-type': 'application/json' }
      const at = path.replace(/\{\w+\}/g, 'nobody')
      return [at, { method: method.toUpperCase(), ...sent, headers: { ...as(key), ...type } }] as const
    }

    it.each(callers)('$method $path counts, and is refused before it does anything else', async (contract) => {
      const { key } = await pair.family({ key: { rpm_limit: 2, tpm_limit: 100 } })
      const first = await pair.gateways[0].fetch(...request(contract, key))
      const said = await first.text()
      expect(first.headers.get('x-ratelimit-remaining-requests'), said).toBe('1')
      // 18 bytes of JSON are 4 tokens; a form is 1, as what has no body is, or one that nothing reads.
      const isRead = contract.json !== undefined || contract.body !== undefined
      const cost = isRead && contract.body?.contentType !== 'multipart/form-data' ? 4 : 1
      const left = Number(first.headers.get('x-ratelimit-remaining-tokens'))
      // What an address of another vendor says is a part of the body that is counted.
      if (contract.errorBody && contract.path.includes('{')) expect(left, said).toBeLessThan(100)
      else expect(left, said).toBe(100 - cost)
      await pair.gateways[1].fetch(...request(contract, key))
      const refused = await pair.gateways[1].fetch(...request(contract, key))
      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
      const told = await refused.json()
      const message = "Rate limit exceeded for scope 'key_rpm'"
      // In the words of a vendor, where its clients look for them.
      if (contract.errorBody) expect(JSON.stringify(told)).toContain(message)
      else expect(told).toMatchObject({ error: { type: 'rate_limit_error', message } })
    })

    it.each([
      ['an unknown model', '/v1/chat/completions', { body: body.replace('echo', 'nobody') }, 404],
      ['a body that is no JSON', '/v1/chat/completions', { body: '{' }, 400],
      ['a body that is too large', '/v1/chat/completions', { body: body.replace('Hello', 'x'.repeat(10_001)) }, 413],
      ['another media type', '/v1/chat/completions', { body, headers: { 'content-type': 'text/plain' } }, 415],
      ['a query that is none', '/health/fallback-events?limit=many', { method: 'GET', body: null }, 400],
      ['a permission that is missing', '/ui/api/keys', { method: 'GET', body: null }, 403],
      ['an upstream that fails', '/v1/chat/completions', { body: body.replace('echo', 'failing') }, 502],
    ])('%s counts, and the client is told its limits with the mistake', async (_, path, init, status) => {
      upstream.script('limits-failing', [
        { say: { kind: 'raw', status: 500, headers: {}, pieces: ['no'] }, changes: [] },
      ])
      const { key } = await pair.family({ key: { rpm_limit: 5 } })
      const headers = { ...as(key), 'content-type': 'application/json', ...(init as RequestInit).headers }
      const response = await pair.gateways[0].fetch(path, { method: 'POST', ...init, headers } as RequestInit)
      expect(response.status, await response.text()).toBe(status)
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('4')
    })

    it('streams tell the limits, too', async () => {
      const { key } = await pair.family({ user: { rpm_limit: 5 } })
      const streamed = JSON.stringify({ ...JSON.parse(body), stream: true })
      const response = await chat(pair.gateways[1], key, {}, streamed)
      expect(await response.text()).toContain('[DONE]')
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('4')
    })

    it('the headers of a provider about its own limits are not ours', async () => {
      const { key } = await pair.family()
      const response = await chat(pair.gateways[0], key, {}, body.replace('echo', 'group'))
      expect(response.status).toBe(200)
      expect([...response.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([])
    })

    it('the master key has no limits', async () => {
      const response = await pair.gateways[0].fetch('/v1/models')
      expect(response.status).toBe(200)
      expect([...response.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([])
    })
  })

  const left = ({ limit, used }: { limit: number; used: number }) => Math.max(0, limit - used)

  function expectRetryAfter(response: Response, field: LimitField): void {
    const seconds = Number(response.headers.get('retry-after'))
    expect(Number.isInteger(seconds)).toBe(true)
    const length = SECONDS[dimensionOf(field)]
    const whole = length === 60 ? 60 : length - ((Date.now() / 1000) % length)
    // Of a minute some seconds may be over since its first call; the others end with the clock.
    expect(seconds).toBeLessThanOrEqual(Math.ceil(whole) + 1)
    expect(seconds).toBeGreaterThanOrEqual(length === 60 ? 40 : Math.floor(whole) - 1)
  }

  function expectReset(seconds: number, field: LimitField, startedAt: number): void {
    const length = SECONDS[dimensionOf(field)]
    const expected = length === 60 ? startedAt / 1000 + 60 : Math.ceil((Date.now() + 1) / 1000 / length) * length
    expect(Math.abs(seconds - expected)).toBeLessThanOrEqual(length === 60 ? 2 : 0)
  }

  /** What ended calls leave to be written is written soon. */
  async function settled(): Promise<void> {
    let last = ''
    for (;;) {
      const dump = JSON.stringify(await pair.raw.dump('gateway:'))
      if (dump === last) return
      last = dump
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  }
})
