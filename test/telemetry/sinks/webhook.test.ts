import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { secret } from '../../../src/lib/secret.ts'
import { type Sink, SinkFailure } from '../../../src/telemetry/sinks/sink.ts'
import { webhook } from '../../../src/telemetry/sinks/webhook.ts'
import { undiciTransport } from '../../../src/transport/undici.node.ts'
import { type Received, type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'
import { withGateway } from '../../support/with-gateway.ts'
import { entries, entry } from './sink-bench.ts'

const KEY = Buffer.from('a webhook key of thirty-two byte')
const SECRET = `whsec_${KEY.toString('base64')}`

/** As the specification of Standard Webhooks says it, without any code of ours. */
function isSigned({ headers, body }: Received): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body.toString()}`
  return headers['webhook-signature'] === `v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`
}

let receiver: SinkReceiver
beforeAll(async () => {
  receiver = await startSinkReceiver()
})
afterAll(() => receiver.close())

describe('the webhook of a gateway', () => {
  const gateway = withGateway(async () => {
    receiver ??= await startSinkReceiver()
    return `
gateway_settings:
  success_callback: [webhook, prometheus]
  callback_settings:
    webhook: { url: '${receiver.url}/hook?tenant=1', secret: ${SECRET}, headers: { x-own: own-header }, events: [call.finished] }
model_list:
  - { model_name: echo, gateway_params: { model: echo/echo } }
`
  })

  it('is told of a finished call, signed, and without a word of its content', async () => {
    const asked = {
      model: 'echo',
      messages: [{ role: 'user', content: 'canary-content-77' }],
    }
    expect((await gateway.chat(asked)).status).toBe(200)
    await gateway.idle()
    const [got] = (await receiver.until(1)) as [Received]
    expect([got.method, got.path, got.headers['content-type'], got.headers['x-own']]).toEqual([
      'POST',
      '/hook?tenant=1',
      'application/json',
      'own-header',
    ])
    expect(isSigned(got)).toBe(true)
    const text = got.body.toString()
    expect(text).not.toContain('canary-content-77')
    const { type, timestamp, data } = JSON.parse(text)
    expect([type, new Date(timestamp).toISOString()]).toEqual(['call.finished', timestamp])
    expect(data).toMatchObject({ model: 'echo', ending: 'answered', status: 200, key_id: 'master_key' })
    expect(data.call_id).toBe(got.headers['webhook-id'])
    expect(data.usage.input_tokens).toBeGreaterThan(0)
  })

  it('shows in the administration and in the metrics how it goes', async () => {
    const { data } = (await (await gateway.fetch('/ui/api/callbacks')).json()) as { data: unknown[] }
    expect(data).toEqual([
      {
        name: 'webhook',
        queued: 0,
        delivered: 1,
        failures: 0,
        dropped: 0,
        last_success_at: expect.any(String),
        last_error_at: null,
        last_error: null,
      },
    ])
    const page = await (await gateway.fetch('/metrics')).text()
    expect(page).toContain('gateway_sink_delivered_total{sink="webhook"} 1')
    expect(page).toContain('gateway_sink_queue_depth{sink="webhook"} 0')
    // Before the first is dropped: an alert sees it as growth.
    expect(page).toContain('gateway_sink_dropped_total{sink="webhook"} 0')
  })

  it('can be tested, with what came back', async () => {
    const test = async (name: string) => {
      const response = await gateway.fetch(`/ui/api/callbacks/${name}/test`, { method: 'POST' })
      return [response.status, await response.json()]
    }
    const before = receiver.received.length
    expect(await test('webhook')).toEqual([
      200,
      { name: 'webhook', delivered: true, answer: 'it answered 200', milliseconds: expect.any(Number) },
    ])
    expect(isSigned(receiver.received[before] as Received)).toBe(true)
    receiver.answer(() => ({ status: 401, body: 'who are you' }))
    expect(await test('webhook')).toMatchObject([200, { delivered: false, answer: 'it answered 401' }])
    receiver.answer(() => ({ status: 200 }))
    expect((await test('prometheus'))[0]).toBe(404)
    expect((await test('none'))[0]).toBe(404)
  })

  it('is named beside the deployments while it takes nothing', async () => {
    const failing = async () => {
      const report = (await (await gateway.fetch('/health/deployments')).json()) as { failing_sinks: unknown[] }
      return report.failing_sinks
    }
    expect(await failing()).toEqual([])
    receiver.answer(() => ({ status: 401, body: 'who are you' }))
    await gateway.chat({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] })
    const named = { name: 'webhook', last_error: 'it answered 401', last_error_at: expect.any(String), queued: 1 }
    await expect.poll(failing, { timeout: 10_000 }).toEqual([named])
    receiver.answer(() => ({ status: 200 }))
    await expect.poll(failing, { timeout: 10_000 }).toEqual([])
  })
})

describe('a far end of a webhook', () => {
  const transport = undiciTransport()
  afterAll(() => transport.close())
  const to = (url: string, postMs = 10_000, atOnce?: number) =>
    webhook(
      { url, secret: secret(SECRET), events: ['call.finished'], headers: {} },
      transport,
      atOnce === undefined ? { postMs } : { postMs, atOnce },
    )[0] as Sink
  const signal = () => new AbortController().signal

  it('gets again what it did not take, and only that', async () => {
    receiver.answer(({ headers }) => {
      if (headers['webhook-id'] === '1') return { status: 503, headers: { 'retry-after': '7' } }
      return { status: headers['webhook-id'] === '2' ? 400 : 204 }
    })
    const some = entries(4)
    expect(await to(receiver.url).deliver(some, signal())).toEqual({
      answer: 'it answered 503',
      again: [some[1]],
      refused: 1,
      retryAfterSeconds: 7,
    })
    receiver.answer(() => ({ status: 200 }))
  })

  it('gets what it took no second time because it hangs at another one', async () => {
    receiver.answer(({ headers }) => ({ status: headers['webhook-id'] === '1' ? 0 : 204 }))
    const some = entries(4)
    expect(await to(receiver.url, 3000).deliver(some, signal())).toEqual({
      answer: 'there was no answer within 3 seconds',
      again: [some[1]],
      refused: 0,
      retryAfterSeconds: 0,
    })
    receiver.answer(() => ({ status: 200 }))
  })

  it('gets so many posts at once, and those that it leaves no time for later', async () => {
    receiver.answer(() => ({ status: 0 }))
    const before = receiver.received.length
    const some = entries(100)
    const { again, answer } = await to(receiver.url, 1000).deliver(some, signal())
    expect([again, answer]).toEqual([some, 'there was no answer within 1 seconds'])
    expect(receiver.received.length - before).toBe(16)
    receiver.answer(() => ({ status: 200 }))
    expect(await to(receiver.url).deliver(some, signal())).toMatchObject({ again: [], refused: 0 })
    expect(receiver.received.length - before).toBe(116)
  })

  it('gets fewer posts at once where a runtime allows fewer', async () => {
    receiver.answer(() => ({ status: 0 }))
    const before = receiver.received.length
    await to(receiver.url, 500, 4).deliver(entries(20), signal())
    expect(receiver.received.length - before).toBe(4)
    receiver.answer(() => ({ status: 200 }))
  })

  it.each([
    [429, 'away', 9],
    [413, 'too_large', 9],
    [400, 'refused', 9],
    [404, 'away', 9],
    [302, 'away', 9],
  ])('that answers %i is %s', async (status, kind, retryAfterSeconds) => {
    receiver.answer(() => ({ status, headers: { 'retry-after': '9', location: 'http://127.0.0.1:1/' } }))
    const failure = await to(receiver.url)
      .deliver([entry('0')], signal())
      .catch((error) => error)
    expect(failure).toBeInstanceOf(SinkFailure)
    expect([failure.kind, failure.retryAfterSeconds]).toEqual([kind, retryAfterSeconds])
    receiver.answer(() => ({ status: 200 }))
  })

  it('is understood by its status however much it says', async () => {
    const body = 'x'.repeat(300_000)
    receiver.answer(({ headers }) => ({ status: headers['webhook-id'] === '1' ? 400 : 200, body }))
    expect(await to(receiver.url).deliver(entries(2), signal())).toMatchObject({ again: [], refused: 1 })
    receiver.answer(() => ({ status: 200 }))
  })

  it('that is not there is away', async () => {
    const failure = await to('http://127.0.0.1:1')
      .deliver([entry('0')], signal())
      .catch((error) => error)
    expect([failure.kind, failure.message]).toEqual([
      'away',
      'the connection to http://127.0.0.1:1 failed: ECONNREFUSED',
    ])
  })
})
