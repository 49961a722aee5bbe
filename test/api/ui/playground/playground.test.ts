import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { type SignedIn, signedIn } from '../../../support/people.ts'
import { answer, json, raw, slowBetween } from '../../../support/upstream/index.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const at = (path: string, model = 'served') =>
  `gateway_params: { model: openai-compatible/${model}, api_base: '${upstream.url}/${path}/v1' }`

const gateway = withFullGateway(`
general_settings: { trusted_proxies: ['127.0.0.1'] }
model_list:
  - { model_name: m, gateway_params: { model: echo/m }, model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001 } }
  - { model_name: slow, ${at('play-slow')} }
  - { model_name: voices, ${at('play-speech')} }
  - { model_name: ears, ${at('play-ears')} }
  - { model_name: secret, gateway_params: { model: echo/secret } }
`)
const master = adminApi(() => gateway)
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'Good morning' }] }

describe('the playground', () => {
  let ann: SignedIn
  let keyId: string
  const play = (path: string, body: unknown, headers: Record<string, string> = {}, who = ann, key = keyId) =>
    who.ask('POST', `/ui/api/playground/${path}?key_id=${key}`, body, headers)
  const made = async (who: SignedIn, fields: object = {}) => {
    const { body } = await who.ask('POST', '/ui/api/keys', { team_id: 'red', owner: 'me' })
    if (Object.keys(fields).length > 0) expect((await master('PATCH', `/keys/${body.key_id}`, fields)).status).toBe(200)
    return body.key_id as string
  }

  beforeAll(async () => {
    await master('POST', '/organizations', { organization_id: 'acme' })
    await master('POST', '/teams', { team_id: 'red', organization_id: 'acme', self_service_keys_enabled: true })
    ann = await signedIn(gateway, { teams: { red: 'team_developer' } })
    keyId = await made(ann)
  })

  it('answers as the endpoint does, and the ledger says that the key has called', async () => {
    const { status, body, headers } = await play('chat/completions', CHAT, { 'x-request-id': 'played-once' })
    expect([status, body.choices[0].message.content]).toEqual([200, 'Good morning'])
    expect(headers.get('x-gateway-deployment')).toBe('m-1')
    expect(headers.get('cache-control')).toBe('no-store')
    await gateway.idle()
    const calls = await vi.waitFor(async () => {
      const found = await master('GET', '/logs?request_id=played-once')
      expect(found.body.data).toHaveLength(1)
      return found.body.data
    }, 15_000)
    expect(calls).toMatchObject([
      { key_id: keyId, team_id: 'red', user_id: ann.userId, endpoint: '/v1/chat/completions' },
    ])
    const events = await vi.waitFor(async () => {
      const found = await master('GET', '/audit/events?action=playground.call')
      expect(found.body.data).not.toEqual([])
      return found
    }, 15_000)
    expect(events.body.data.at(-1)).toMatchObject({
      actor_type: 'account',
      actor_id: ann.accountId,
      resource_id: keyId,
      metadata: { endpoint: '/v1/chat/completions' },
    })
    expect(JSON.stringify(events.body)).not.toContain('Good morning')
  })

  it('streams, and a person who stops ends the upstream call', async () => {
    const streamed = await play('chat/completions', { ...CHAT, stream: true })
    expect(streamed.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(streamed.body).toMatch(/data: \[DONE\]\n\n$/)
    await upstream.script('/play-slow', [
      answer({ text: 'one two three four five' }, slowBetween({ ms: 20_000, only: 3 })),
    ])
    const stopping = new AbortController()
    const response = await fetch(`${gateway.url}/ui/api/playground/chat/completions?key_id=${keyId}`, {
      method: 'POST',
      body: JSON.stringify({ ...CHAT, model: 'slow', stream: true }),
      signal: stopping.signal,
      headers: {
        origin: gateway.url,
        'content-type': 'application/json',
        cookie: `gateway_session=${ann.token}`,
      },
    })
    await response.body?.getReader().read()
    stopping.abort()
    await upstream.until('/play-slow', (calls) => calls[0]?.outcome === 'client_closed')
  })

  it('obeys the limits, the budget and the access of the key, not those of who calls', async () => {
    const limited = await made(ann, { rpm_limit: 1 })
    expect((await play('chat/completions', CHAT, {}, ann, limited)).headers.get('x-ratelimit-limit-requests')).toBe('1')
    const second = await play('chat/completions', CHAT, {}, ann, limited)
    expect([second.status, second.body.error.param]).toEqual([429, 'key_rpm'])
    const broke = await made(ann, { max_budget: 0 })
    const refused = await play('chat/completions', CHAT, {}, ann, broke)
    expect([refused.status, refused.body.error.param]).toEqual([429, 'key_budget'])
    const bound = await made(ann)
    await master('PUT', `/keys/${bound}/model-access`, { mode: 'restrict', models: ['m'] })
    expect((await play('chat/completions', { ...CHAT, model: 'secret' }, {}, ann, bound)).status).toBe(404)
    const admin = await signedIn(gateway, { role: 'platform_admin' })
    expect((await play('chat/completions', { ...CHAT, model: 'secret' }, {}, admin, bound)).status).toBe(404)
    const elsewhere = await made(ann, { allowed_ips: ['203.0.113.0/24'] })
    const far = await play('chat/completions', CHAT, {}, ann, elsewhere)
    expect([far.status, far.body.error.code]).toEqual([403, 'address_not_allowed'])
    const near = await play('chat/completions', CHAT, { 'x-forwarded-for': '203.0.113.9' }, ann, elsewhere)
    expect(near.status).toBe(200)
    await master('PATCH', `/keys/${elsewhere}`, { allowed_ips: null })
    expect((await play('chat/completions', CHAT, {}, ann, elsewhere)).status).toBe(200)
  })

  it('tells a key that is no longer valid from a session that has ended', async () => {
    const revoked = await made(ann)
    expect((await play('chat/completions', CHAT, {}, ann, revoked)).status).toBe(200)
    await ann.ask('POST', `/ui/api/keys/${revoked}/revoke`, {})
    const gone = await play('chat/completions', CHAT, {}, ann, revoked)
    expect([gone.status, gone.body.error.code, gone.body.error.param]).toEqual([409, 'key_revoked', 'key_id'])
    const unnamed = await ann.ask('POST', '/ui/api/playground/chat/completions', CHAT)
    expect([unnamed.status, unnamed.body.error.param]).toEqual([400, 'key_id'])
  })

  it('explains to who may read the configuration', async () => {
    const explained = { 'x-gateway-explain': '1' }
    expect((await play('chat/completions', CHAT, explained)).headers.get('x-gateway-explain')).toBe(null)
    const admin = await signedIn(gateway, { role: 'platform_admin' })
    const { headers } = await play('chat/completions', CHAT, explained, admin)
    expect(headers.get('x-gateway-explain')).toContain('m-1')
  })

  it('has every kind of request', async () => {
    await upstream.script('/play-speech', [
      raw(200, 'a sound', { 'content-type': 'audio/mpeg' }),
      json(200, { created: 1, data: [{ b64_json: 'aGk=' }] }),
      json(200, { results: [{ index: 0, relevance_score: 1 }] }),
    ])
    const sound = await play('audio/speech', { model: 'voices', input: 'Hi', voice: 'alloy' })
    expect([sound.status, sound.headers.get('content-type'), sound.body]).toEqual([200, 'audio/mpeg', 'a sound'])
    expect((await play('images/generations', { model: 'voices', prompt: 'A cat' })).status).toBe(200)
    expect((await play('rerank', { model: 'voices', query: 'q', documents: ['d'] })).status).toBe(200)
    expect((await play('responses', { model: 'm', input: 'Hi' })).body.object).toBe('response')
    expect((await play('messages', { model: 'm', max_tokens: 9, messages: CHAT.messages })).body.type).toBe('message')
    expect((await play('completions', { model: 'm', prompt: 'Hi' })).body.object).toBe('text_completion')
    expect((await play('embeddings', { model: 'm', input: 'Hi' })).status).toBe(400)
  })

  it('takes a recording only from its own pages', async () => {
    await upstream.script('/play-ears', [json(200, { text: 'heard' })])
    const send = (headers: Record<string, string>) => {
      const form = new FormData()
      form.set('model', 'ears')
      form.set('file', new Blob(['sound'], { type: 'audio/wav' }), 'a.wav')
      return fetch(`${gateway.url}/ui/api/playground/audio/transcriptions?key_id=${keyId}`, {
        method: 'POST',
        body: form,
        headers: { cookie: `gateway_session=${ann.token}`, ...headers },
      })
    }
    const own = { origin: gateway.url, 'sec-fetch-site': 'same-origin' }
    const heard = await send({ ...own, 'x-requested-with': 'fetch' })
    expect([heard.status, await heard.json()]).toEqual([200, { text: 'heard' }])
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'x-requested-with': 'fetch' }
    for (const headers of [own, foreign, { 'x-requested-with': 'fetch' }]) {
      const refused = await send(headers)
      expect([refused.status, (await refused.json()).error.code]).toEqual([403, 'cross_origin'])
    }
  })
})
