import { exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { reveal, secret } from '../../src/lib/secret.ts'
import { accessTokens } from '../../src/providers/vertex/access-tokens.ts'
import { type ServiceAccount, serviceAccountOf } from '../../src/providers/vertex/service-account.ts'
import { fetchTransport } from '../../src/transport/fetch.ts'
import { chatInit } from '../support/gateway.ts'
import { readStream, spokenText } from '../support/sse.ts'
import { type Behaviour, change, frames, json, slowHeaders } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const decoder = new TextDecoder()
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/vertex-${run}-${name}`
const email = 'gateway@project-1.iam.gserviceaccount.com'
const messages = [{ role: 'user', content: 'Hello' }]
const keys = await generateKeyPair('RS256', { extractable: true })
const privateKey = await exportPKCS8(keys.privateKey)

function keyFile(name: string, more: object = {}): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'project-1',
    private_key_id: 'key-1',
    private_key: privateKey,
    client_email: email,
    token_uri: `${upstream.url}${path(name)}`,
    ...more,
  })
}

const granted = (token: string, seconds = 3600) => json(200, { access_token: token, expires_in: seconds })
const account = (name: string, more: object = {}) => serviceAccountOf(secret(keyFile(name, more))) as ServiceAccount

describe('a service account', () => {
  it.each([
    ['of another type', { type: 'authorized_user' }, 'type'],
    ['without its key', { private_key: '' }, 'private_key'],
    ['whose tokens come from an open network', { token_uri: 'http://tokens.example/' }, 'token_uri'],
  ])('%s is refused at the start, without a word of its key', (_, more, field) => {
    const asking = () => serviceAccountOf(secret(keyFile('none', more)))
    expect(asking).toThrow(TypeError)
    expect(asking).toThrow(field)
    expect(asking).not.toThrow(privateKey.slice(40, 60))
  })

  it('may have its line ends escaped once more', async () => {
    await upstream.script(path('escaped'), [granted('ya29.escaped')])
    const escaped = account('escaped', { private_key: privateKey.replaceAll('\n', '\\n') })
    expect(reveal(await accessTokens()(escaped, means()))).toBe('Bearer ya29.escaped')
  })
})

const means = (now = Date.now(), signal: AbortSignal = new AbortController().signal) => ({
  transport: fetchTransport(),
  now,
  signal,
})

describe('an access token', () => {
  const asked = async (name: string) => (await upstream.calls(path(name))).length

  it('is asked for with an assertion that the account signed', async () => {
    await upstream.script(path('assert'), [granted('ya29.a')])
    const now = Date.now()
    expect(reveal(await accessTokens()(account('assert'), means(now)))).toBe('Bearer ya29.a')
    const [call] = await upstream.calls(path('assert'))
    const form = new URLSearchParams(decoder.decode(call?.body))
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', keys.publicKey, {
      issuer: email,
      audience: `${upstream.url}${path('assert')}`,
    })
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    const issued = Math.floor(now / 1000)
    const scope = 'https://www.googleapis.com/auth/cloud-platform'
    expect(payload).toMatchObject({ sub: email, scope, iat: issued, exp: issued + 3600 })
  })

  it('is asked for once by many calls, and kept until shortly before its end', async () => {
    await upstream.script(path('once'), [granted('ya29.1'), granted('ya29.2')])
    const tokenFor = accessTokens()
    const now = Date.now()
    const ask = async (at: number) => reveal(await tokenFor(account('once'), means(at)))
    const many = await Promise.all(Array.from({ length: 50 }, () => ask(now)))
    expect(new Set(many)).toEqual(new Set(['Bearer ya29.1']))
    expect(await asked('once')).toBe(1)
    expect(await ask(now + 54 * 60_000)).toBe('Bearer ya29.1')
    expect(await ask(now + 56 * 60_000)).toBe('Bearer ya29.2')
    expect(await asked('once')).toBe(2)
  })

  it('is not lost with the client that asked first', async () => {
    await upstream.script(path('left'), [change(granted('ya29.left'), slowHeaders({ ms: 100 }))])
    const tokenFor = accessTokens()
    const controller = new AbortController()
    const first = tokenFor(account('left'), means(Date.now(), controller.signal))
    const second = tokenFor(account('left'), means())
    controller.abort(new Error('left'))
    await expect(first).rejects.toThrow('left')
    expect(reveal(await second)).toBe('Bearer ya29.left')
    expect(await asked('left')).toBe(1)
  })

  it('that cannot be renewed is used to its end', async () => {
    await upstream.script(path('old'), [granted('ya29.old'), json(503, {})])
    const tokenFor = accessTokens()
    const now = Date.now()
    await tokenFor(account('old'), means(now))
    expect(reveal(await tokenFor(account('old'), means(now + 58 * 60_000)))).toBe('Bearer ya29.old')
    await expect(tokenFor(account('old'), means(now + 61 * 60_000))).rejects.toMatchObject({
      failure: 'upstream_failed',
    })
  })

  it.each([
    ['upstream_refused', json(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })],
    ['upstream_rate_limited', json(429, {}, { 'retry-after': '3' })],
    ['upstream_malformed', json(200, { expires_in: 5 })],
  ] as [string, Behaviour][])(
    'that is not given is %s, and asked for again by the next call',
    async (failure, refusal) => {
      await upstream.script(path(failure), [refusal, granted('ya29.later')])
      const tokenFor = accessTokens()
      await expect(tokenFor(account(failure), means())).rejects.toMatchObject({ failure })
      expect(reveal(await tokenFor(account(failure), means()))).toBe('Bearer ya29.later')
    },
  )

  it('is the owner’s of the whole key file alone, and kept for a bounded number of them', async () => {
    await upstream.script(path('own'), [granted('ya29.own')])
    const tokenFor = accessTokens({ accounts: 2 })
    await tokenFor(account('own'), means())
    const other = await exportPKCS8((await generateKeyPair('RS256', { extractable: true })).privateKey)
    await tokenFor(account('own', { private_key: other }), means())
    expect(await asked('own')).toBe(2)
    await tokenFor(account('own'), means())
    expect(await asked('own')).toBe(2)
    await tokenFor(account('own', { private_key_id: '2' }), means())
    await tokenFor(account('own', { private_key_id: '3' }), means())
    await tokenFor(account('own'), means())
    expect(await asked('own')).toBe(5)
  })

  it('cannot be had with a key that cannot be read', async () => {
    const broken = account('broken', { private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n' })
    await expect(accessTokens()(broken, means())).rejects.toMatchObject({ failure: 'upstream_refused' })
    expect(await asked('broken')).toBe(0)
  })
})

describe('Vertex', () => {
  const gateway = withGateway(() => {
    const entry = (name: string, model: string) => `  - model_name: ${name}
    gateway_params: { model: vertex/${model}, region: us-east5, api_base: "${upstream.url}${path(name)}", api_key: '${keyFile('tokens')}' }
`
    return `model_list:\n${entry('gemini', 'gemini-2.5-flash')}${entry('claude', 'claude-sonnet-4-5')}`
  })
  beforeAll(async () => {
    await upstream.script(path('tokens'), [granted('ya29.canary-of-the-gateway')])
  })

  const finished = async () => {
    await gateway.idle()
    return gateway.logs.findLast((line) => line.event === 'call.finished')
  }
  const place = '/v1/projects/project-1/locations/us-east5/publishers'

  it('answers as Gemini, with a token, to calls through other gateways too', async () => {
    const answer = {
      candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 },
    }
    await upstream.script(path('gemini'), [json(200, answer), json(200, answer)])
    for (const [index, hops] of ['0', '1'].entries()) {
      const headers = { 'x-gateway-hops': hops }
      const response = await gateway.fetch('/v1/chat/completions', chatInit({ model: 'gemini', messages }, { headers }))
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hi' } }] })
      const call = (await upstream.calls(path('gemini')))[index]
      expect(call).toMatchObject({
        path: `${path('gemini')}${place}/google/models/gemini-2.5-flash:generateContent`,
        headers: { authorization: 'Bearer ya29.canary-of-the-gateway', 'x-gateway-hops': String(index + 1) },
      })
    }
    expect(await finished()).toMatchObject({ provider: 'vertex', usage: { inputTokens: 3, outputTokens: 1 } })
  })

  it('streams as Claude, with the same token', async () => {
    const event = (value: { type: string; [name: string]: unknown }) =>
      `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
    await upstream.script(path('claude'), [
      frames([
        event({
          type: 'message_start',
          message: { id: 'msg_vrtx_1', model: 'claude-sonnet-4-5', usage: { input_tokens: 5, output_tokens: 1 } },
        }),
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Olá 🙂' } }),
        event({ type: 'content_block_stop', index: 0 }),
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }),
        event({ type: 'message_stop' }),
      ]),
    ])
    const stream = await readStream(await gateway.chat({ model: 'claude', messages, max_tokens: 10, stream: true }))
    expect(spokenText(stream)).toBe('Olá 🙂')
    expect(stream.events.at(-1)?.data).toBe('[DONE]')
    const [call] = await upstream.calls(path('claude'))
    expect(call).toMatchObject({
      path: `${path('claude')}${place}/anthropic/models/claude-sonnet-4-5:streamRawPredict`,
      headers: { authorization: 'Bearer ya29.canary-of-the-gateway' },
    })
    expect(JSON.parse(decoder.decode(call?.body))).toMatchObject({
      anthropic_version: 'vertex-2023-10-16',
      stream: true,
    })
    expect(await upstream.calls(path('tokens'))).toHaveLength(1)
    expect(await finished()).toMatchObject({ usage: { inputTokens: 5, outputTokens: 7 } })
    expect(JSON.stringify(gateway.logs)).not.toContain('ya29.')
    expect(JSON.stringify(gateway.logs)).not.toContain('PRIVATE KEY')
  })
})
