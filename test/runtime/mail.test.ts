import { beforeEach, describe, expect, inject, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import { type MailMessage, MailRefused } from '../../src/mail/mail-sender.ts'
import { mailSender } from '../../src/mail/senders.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { fetchTransport } from '../../src/transport/fetch.ts'
import type { Behaviour } from '../support/upstream/behaviour.ts'
import { upstreamClient } from '../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const API_KEY = 'key-canary-5f1c2a9b7d'
const TOKEN = 'Tt0kenCanary'.repeat(4)

const message: MailMessage = {
  id: 'email_1',
  recipient: 'ann+x@example.com',
  subject: 'Hello',
  text: 'Hello.',
  html: '<p>Hello.</p>',
  link: `https://gateway.example/console/invite#${TOKEN}`,
}

/** A service's own answers, as its documentation and its API show them. */
const SERVICES = {
  resend: {
    path: '/emails',
    taken: raw(200, { id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794' }),
    body: {
      from: 'Gateway <gateway@example.com>',
      to: ['ann+x@example.com'],
      subject: 'Hello',
      text: 'Hello.',
      html: '<p>Hello.</p>',
    },
    credential: ['authorization', `Bearer ${API_KEY}`],
    more: { 'idempotency-key': 'email_1' },
    refused: raw(422, { statusCode: 422, name: 'validation_error', message: 'Invalid `to` field.' }),
    badKey: raw(401, { statusCode: 401, name: 'validation_error', message: `API key ${API_KEY} is invalid` }),
    said: 'Invalid `to` field.',
  },
  sendgrid: {
    path: '/v3/mail/send',
    taken: raw(202, undefined, { 'x-message-id': '14c5d75ce93.dfd.64b469' }),
    body: {
      personalizations: [{ to: [{ email: 'ann+x@example.com' }] }],
      from: { email: 'gateway@example.com', name: 'Gateway' },
      subject: 'Hello',
      content: [
        { type: 'text/plain', value: 'Hello.' },
        { type: 'text/html', value: '<p>Hello.</p>' },
      ],
      tracking_settings: {
        click_tracking: { enable: false, enable_text: false },
        open_tracking: { enable: false },
      },
    },
    credential: ['authorization', `Bearer ${API_KEY}`],
    more: {},
    refused: raw(400, {
      errors: [{ message: 'Does not contain a valid address.', field: 'personalizations.0.to.0.email', help: null }],
    }),
    badKey: raw(401, {
      errors: [{ message: `The provided authorization grant ${API_KEY} is invalid`, field: null, help: null }],
    }),
    said: 'Does not contain a valid address.',
  },
  postmark: {
    path: '/email',
    taken: raw(200, {
      To: 'ann+x@example.com',
      SubmittedAt: '2026-11-22T07:25:01.4178645-05:00',
      MessageID: '0a129aee-e1cd-480d-b08d-4f48548ff48d',
      ErrorCode: 0,
      Message: 'OK',
    }),
    body: {
      From: 'Gateway <gateway@example.com>',
      To: 'ann+x@example.com',
      Subject: 'Hello',
      TextBody: 'Hello.',
      HtmlBody: '<p>Hello.</p>',
      TrackLinks: 'None',
      TrackOpens: false,
      MessageStream: 'outbound',
    },
    credential: ['x-postmark-server-token', API_KEY],
    more: {},
    refused: raw(422, {
      ErrorCode: 406,
      Message: 'You tried to send to a recipient that has been marked as inactive.',
    }),
    badKey: raw(401, { ErrorCode: 10, Message: `Bad or missing server token ${API_KEY}` }),
    said: 'You tried to send to a recipient that has been marked as inactive.',
  },
} as const

function raw(status: number, body: unknown, headers: Record<string, string> = {}): Behaviour {
  const pieces = body === undefined ? [] : [typeof body === 'string' ? body : JSON.stringify(body)]
  return {
    say: { kind: 'raw', status, headers: { 'content-type': 'application/json', ...headers }, pieces },
    changes: [],
  }
}

let serial = 0

function senderOf(provider: string, base: string) {
  const config = loadConfig(
    `general_settings: { email_provider: ${provider}, email_base_url: 'https://gateway.example',
      email_from: 'Gateway <gateway@example.com>', email_api_key: ${API_KEY}, email_api_base: '${upstream.url}${base}' }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`,
    { GATEWAY_MASTER_KEY: 'sk-master-key-of-the-mail-test-1', GATEWAY_SALT_KEY: 'salt-of-the-mail-test-92bd77' },
  )
  const log = jsonLog('silent', () => {})
  const made = mailSender(config.general_settings, { transport: fetchTransport(), log, smtp: undefined })
  if (!made) throw new Error('nothing sends')
  return made
}

async function refusal(provider: string, base: string, behaviour: Behaviour): Promise<MailRefused> {
  await upstream.script(base, [behaviour])
  const error = await senderOf(provider, base)
    .send(message)
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
  if (!(error instanceof MailRefused)) throw new Error(`not refused: ${error}`)
  expect(error.message).not.toContain(API_KEY)
  expect(error.message).not.toContain(TOKEN)
  return error
}

describe.each(Object.entries(SERVICES))('e-mail by %s', (provider, service) => {
  let base = ''
  beforeEach(() => {
    base = `/mail-${run}-${provider}-${++serial}`
  })

  const sender = () => senderOf(provider, base)
  const refusalOf = (behaviour: Behaviour) => refusal(provider, base, behaviour)

  it('asks as the service wants to be asked', async () => {
    await upstream.script(base, [service.taken])
    expect(await sender().send(message)).toMatch(/^\w+ has taken it over as \S+$/)
    const [call, ...others] = await upstream.calls(base)
    expect(others).toEqual([])
    expect([call?.method, call?.path]).toEqual(['POST', base + service.path])
    expect(JSON.parse(new TextDecoder().decode(call?.body))).toEqual(service.body)
    const [name, value] = service.credential
    expect(call?.headers).toMatchObject({ [name]: value, 'content-type': 'application/json', ...service.more })
  })

  it('tells a refusal of the message from one that may be mended', async () => {
    const refused = await refusalOf(service.refused)
    expect([refused.isFinal, refused.message]).toEqual([true, expect.stringContaining(service.said)])
    const badKey = await refusalOf(service.badKey)
    expect([badKey.isFinal, badKey.message]).toEqual([false, expect.stringContaining('[secret]')])
    const limited = await refusalOf(raw(429, { message: 'slow down', Message: 'slow down' }, { 'retry-after': '77' }))
    expect([limited.isFinal, limited.retryAfterSeconds]).toEqual([false, 77])
    for (const status of [500, 502, 503]) expect((await refusalOf(raw(status, 'upstream oops'))).isFinal).toBe(false)
  })

  it('takes nothing for a success that is none', async () => {
    for (const behaviour of [
      raw(200, '<html>Sign in to the hotel network</html>', { 'content-type': 'text/html' }),
      raw(200, 'null'),
      raw(200, ['x']),
      raw(204, undefined),
      raw(302, undefined, { location: `${upstream.url}${base}/elsewhere` }),
      raw(200, { ErrorCode: 405, Message: 'not allowed to send', MessageID: 'x' }),
    ]) {
      expect((await refusalOf(behaviour)).isFinal).toBe(false)
    }
    expect((await upstream.calls(base)).map(({ path }) => path)).not.toContain(`${base}/elsewhere`)
  })

  it('repeats no secret that the service repeats', async () => {
    const words = `You sent ${JSON.stringify(message.link)} with ${API_KEY}`
    const echo = { message: words, Message: words, errors: [{ message: words }] }
    expect((await refusalOf(raw(400, echo))).message).toContain('[secret]')
  })

  it('reads an answer of any length only so far', async () => {
    expect((await refusalOf(raw(500, 'x'.repeat(2_000_000)))).message.length).toBeLessThan(400)
    expect(
      (await refusalOf(raw(400, { message: 'x'.repeat(30_000), Message: 'x'.repeat(30_000) }))).message.length,
    ).toBeLessThan(400)
  })

  it('of a service that is not there says so', async () => {
    expect((await refusalOf({ say: { kind: 'nothing', ending: 'reset' }, changes: [] })).isFinal).toBe(false)
  })
})

// All at once, for each of them waits.
describe.concurrent.each(Object.keys(SERVICES))('e-mail by %s', (provider) => {
  it('gives up after ten seconds, before the head and behind it', { timeout: 30_000 }, async ({ expect }) => {
    const base = `/mail-${run}-${provider}-late`
    const began = performance.now()
    await upstream.script(`${base}/a`, [{ say: { kind: 'nothing', ending: 'hang' }, changes: [] }])
    const refused = await refusal(provider, base, { say: { kind: 'nothing', ending: 'hang' }, changes: [] })
    expect([refused.isFinal, refused.message]).toEqual([false, `${provider} has not answered for 10 seconds`])
    expect(performance.now() - began).toBeLessThan(14_000)
  })
})

describe('e-mail to the log', () => {
  it('shows the link', async () => {
    const lines: string[] = []
    const config = loadConfig(
      `general_settings: { email_provider: log, email_base_url: 'https://gateway.example' }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`,
      { GATEWAY_MASTER_KEY: 'sk-master-key-of-the-mail-test-1', GATEWAY_SALT_KEY: 'salt-of-the-mail-test-92bd77' },
    )
    const log = jsonLog('info', (line) => lines.push(line))
    await mailSender(config.general_settings, { transport: fetchTransport(), log, smtp: undefined })?.send(message)
    expect(lines).toEqual([expect.stringContaining(`"link":"${message.link}"`)])
  })
})
