import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { signedIn } from '../../../support/people.ts'
import { json } from '../../../support/upstream/index.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const models = 'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]'
const API_KEY = 're_canary_4f9b1c77'

describe('e-mail, in the API of the administration', () => {
  let gateway: FullGateway
  const ask = adminApi(() => gateway)

  beforeAll(async () => {
    gateway = await startFullGateway(
      `general_settings: { email_provider: resend, email_base_url: 'https://gateway.example',
        email_from: gateway@example.com, email_api_key: ${API_KEY}, email_api_base: '${upstream.url}/email-api' }\n${models}`,
    )
  })
  afterAll(() => gateway?.close())

  it('is tried at once, and told what was said', async () => {
    await upstream.script('/email-api', [json(200, { id: 'one-id' })])
    const { status, body } = await ask('POST', '/email/test', { recipient: 'ann@bücher.example' })
    expect([status, body]).toEqual([
      200,
      { recipient: 'ann@bücher.example', provider: 'resend', response: 'resend has taken it over as one-id' },
    ])
    const [call] = await upstream.calls('/email-api')
    expect(JSON.parse(new TextDecoder().decode(call?.body))).toMatchObject({ to: ['ann@xn--bcher-kva.example'] })
    const admin = await signedIn(gateway, { role: 'platform_admin', email: 'root@example.com' })
    expect((await admin.ask('POST', '/ui/api/email/test', {})).body.recipient).toBe('root@example.com')
  })

  it('that is refused says why, in the one error shape', async () => {
    await upstream.script('/email-api', [json(401, { name: 'validation_error', message: `key ${API_KEY} is invalid` })])
    const { status, body } = await ask('POST', '/email/test', { recipient: 'ann@example.com' })
    expect([status, body.error.type, body.error.code]).toEqual([502, 'api_error', 'email_failed'])
    expect(body.error.message).toMatch(/^The e-mail was not sent: resend answered 401: key \[secret\] is invalid/)
    await gateway.idle()
    const events = await vi.waitFor(async () => {
      const found = await ask('GET', '/audit/events?action=email.test')
      expect(found.body.data[0]).toMatchObject({ status: 502, metadata: { recipient: 'ann@example.com' } })
      return found
    }, 15_000)
    expect(JSON.stringify(events.body)).not.toContain(API_KEY)
  })

  it.each([
    'no address',
    'ann@example.com\r\nBcc: all@example.com',
    'x'.repeat(65_536),
    '\ud800@x.example',
    '',
    null,
    7,
    ['a@x.example'],
  ])('to %j is refused', async (recipient) => {
    const { status, body } = await ask('POST', '/email/test', { recipient })
    expect([status, body.error.param]).toEqual([400, 'recipient'])
  })

  it('needs somebody to go to, and nothing that it does not know', async () => {
    expect((await ask('POST', '/email/test')).body.error).toMatchObject({ param: 'recipient' })
    expect((await ask('POST', '/email/test', { to: 'a@x.example' })).status).toBe(400)
  })

  it('is for administrators of the platform', async () => {
    const owner = await signedIn(gateway)
    for (const [method, path] of [
      ['GET', '/ui/api/email/outbox'],
      ['POST', '/ui/api/email/test'],
    ] as const) {
      expect((await owner.ask(method, path, method === 'POST' ? {} : undefined)).status).toBe(403)
    }
  })

  it('shows its outbox by pages, newest first, and never what e-mails say', async () => {
    for (let index = 1; index <= 5; index++) {
      await rowsOf(
        gateway.sql,
        sql`INSERT INTO gateway_email (email_id, kind, recipient, sealed, state, attempts, last_error, due_at)
          VALUES (${`email_${index}`}, 'invitation', ${`p${index}@example.com`}, 'sealed-canary',
            ${index > 3 ? 'failed' : 'queued'}, ${index}, ${index > 3 ? '550 no' : null}, now() + interval '1 hour')`,
      )
    }
    const first = (await ask('GET', '/email/outbox?limit=2')).body
    expect(first.data).toMatchObject([
      { recipient: 'p5@example.com', state: 'failed', attempts: 5, last_error: '550 no', sent_at: null },
      { recipient: 'p4@example.com' },
    ])
    const second = (await ask('GET', `/email/outbox?limit=2&cursor=${first.next_cursor}`)).body
    expect(second.data.map((row: { recipient: string }) => row.recipient)).toEqual(['p3@example.com', 'p2@example.com'])
    const failed = (await ask('GET', '/email/outbox?state=failed')).body
    expect([failed.data.length, failed.next_cursor]).toEqual([2, null])
    expect(JSON.stringify([first, second, failed])).not.toContain('sealed')
    for (const query of ['state=gone', 'limit=0', 'limit=201', 'cursor=%00', 'cursor=%ED%A0%80']) {
      expect([query, (await ask('GET', `/email/outbox?${query}`)).status]).toEqual([
        query,
        query.startsWith('cursor=%ED') ? 200 : 400,
      ])
    }
  })
})

describe('e-mail that nobody has configured', () => {
  let gateway: FullGateway
  const ask = adminApi(() => gateway)
  beforeAll(async () => {
    gateway = await startFullGateway(models)
  })
  afterAll(() => gateway?.close())

  it('says so', async () => {
    const { status, body } = await ask('POST', '/email/test', { recipient: 'ann@example.com' })
    expect([status, body.error.code]).toEqual([409, 'email_not_configured'])
    expect((await ask('GET', '/email/outbox')).body).toEqual({ data: [], next_cursor: null })
  })
})
