import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'
import { answer, serverError } from '../../support/upstream/index.ts'
import { withGateway } from '../../support/with-gateway.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const TIME = /^\d{19}$/

let upstream: Upstream
let receiver: SinkReceiver
beforeAll(async () => {
  upstream ??= await startUpstream()
  receiver ??= await startSinkReceiver()
})
afterAll(() => Promise.all([upstream.close(), receiver.close()]))

const gatewayWith = (otel: object) =>
  withGateway(async () => {
    upstream ??= await startUpstream()
    receiver ??= await startSinkReceiver()
    return configuration({
      gateway_settings: {
        success_callback: ['otel'],
        callback_settings: {
          otel: { endpoint: receiver.url, headers: { 'x-tenant': 'acme' }, service_name: 'gate', ...otel },
        },
      },
      router_settings: { routing_strategy: 'priority-based-routing', num_retries: 1 },
      model_list: [
        deployment(upstream.url, 'm', 'first', { priority: 1 }),
        deployment(upstream.url, 'm', 'second', { priority: 2 }),
      ],
    })
  })

type Fields = Record<string, unknown>
interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { key: string; value: Fields }[]
  readonly events: readonly { name: string; timeUnixNano: string; attributes?: Span['attributes'] }[]
  readonly status: Fields
}

const valuesOf = (attributes: Span['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
const sent = (path: string) =>
  receiver.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body.toString()))
const spans = () => sent('/v1/traces').flatMap((one) => one.resourceSpans[0].scopeSpans[0].spans as Span[])

describe('OpenTelemetry in JSON', () => {
  const gateway = gatewayWith({ protocol: 'http/json' })

  it('gets a span of the call and of each attempt, in the trace of the client, which goes on upstream', async () => {
    upstream.script('first', [serverError()])
    upstream.script('second', [answer({ text: 'Hello' })])
    const asked = {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      metadata: { session_id: 's-1' },
      user: 'ann',
    }
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` }
    expect((await gateway.chat(asked, { headers })).status).toBe(200)
    await gateway.idle()
    await receiver.until(3)
    const [request] = receiver.received
    expect([request?.headers['x-tenant'], request?.headers['content-type']]).toEqual(['acme', 'application/json'])
    const [resource] = sent('/v1/traces')[0].resourceSpans
    expect(valuesOf(resource.resource.attributes)).toEqual({
      'service.instance.id': expect.any(String),
      'service.name': 'gate',
    })

    const [call, failed, served] = spans() as [Span, Span, Span]
    expect(spans()).toHaveLength(3)
    expect(call).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, name: 'chat m', kind: 3, status: {} })
    expect([call.startTimeUnixNano, call.endTimeUnixNano].every((time) => TIME.test(time))).toBe(true)
    expect(valuesOf(call.attributes)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai-compatible',
      'gen_ai.request.model': 'm',
      'gen_ai.conversation.id': 's-1',
      'gen_ai.usage.input_tokens': expect.stringMatching(/^\d+$/),
      'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }]),
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: 'Hello' }], finish_reason: 'stop' },
      ]),
      'user.id': 'ann',
      'gateway.deployment': 'second',
      'gateway.attempts': '2',
    })
    const [fallback] = call.events.filter(({ name }) => name === 'gateway.fallback')
    expect(valuesOf(fallback?.attributes ?? [])).toMatchObject({
      'gateway.fallback.from': 'first',
      'gateway.fallback.to': 'second',
    })
    expect(call.events.map(({ name }) => name)).toContain('gateway.first_token')
    for (const [span, name] of [
      [failed, 'attempt first'],
      [served, 'attempt second'],
    ] as const) {
      expect(span).toMatchObject({ traceId: TRACE, parentSpanId: call.spanId, name, kind: 3 })
      expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(call.startTimeUnixNano))
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
    }
    expect(failed.status).toMatchObject({ code: 2 })
    const continued = ['first', 'second'].flatMap((model) =>
      upstream.calls(model).map(({ headers }) => headers.traceparent),
    )
    expect(continued).toEqual([`00-${TRACE}-${failed.spanId}-01`, `00-${TRACE}-${served.spanId}-01`])
  })

  it('gets the histograms of the conventions, and a record of each call that names its span', () => {
    const [{ resourceMetrics }] = sent('/v1/metrics')
    const metrics = resourceMetrics[0].scopeMetrics[0].metrics as Fields[]
    expect(metrics.map(({ name, unit }) => [name, unit])).toEqual([
      ['gen_ai.client.token.usage', '{token}'],
      ['gen_ai.client.operation.duration', 's'],
    ])
    const { dataPoints, aggregationTemporality } = (metrics[0] as Fields).histogram as {
      dataPoints: Fields[]
      aggregationTemporality: number
    }
    expect(aggregationTemporality).toBe(1)
    expect(dataPoints.map(({ attributes }) => valuesOf(attributes as Span['attributes'])['gen_ai.token.type'])).toEqual(
      ['input', 'output'],
    )
    for (const { count, bucketCounts, explicitBounds } of dataPoints as {
      count: string
      bucketCounts: string[]
      explicitBounds: number[]
    }[]) {
      expect([bucketCounts.length, String(bucketCounts.reduce((sum, one) => sum + Number(one), 0))]).toEqual([
        explicitBounds.length + 1,
        count,
      ])
    }
    const [{ resourceLogs }] = sent('/v1/logs')
    const records = resourceLogs[0].scopeLogs[0].logRecords as Record<string, unknown>[]
    // The first deployment failed on the way.
    expect(records.find(({ eventName }) => eventName === 'gateway.deployment.cooled')).toMatchObject({
      severityNumber: 13,
      severityText: 'WARN',
      body: { stringValue: 'deployment.cooled' },
      attributes: expect.arrayContaining([{ key: 'gateway.deployment', value: { stringValue: 'first' } }]),
    })
    expect(records.find(({ eventName }) => String(eventName).startsWith('gen_ai'))).toMatchObject({
      traceId: TRACE,
      spanId: spans()[0]?.spanId,
      eventName: 'gen_ai.client.inference.operation.details',
      severityNumber: 9,
    })
    expect(JSON.stringify(resourceLogs)).not.toContain('messages')
  })

  it('leaves a trace alone that its client does not sample', async () => {
    const before = spans().length
    const headers = { traceparent: `00-${TRACE}-${PARENT}-00` }
    upstream.script('first', [answer()])
    const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await gateway.chat(asked, { headers })).status).toBe(200)
    await gateway.idle()
    await receiver.until(2, ({ path }) => path === '/v1/logs')
    expect(spans()).toHaveLength(before)
    const told = ['first', 'second'].flatMap((model) => upstream.calls(model).map(({ headers }) => headers.traceparent))
    expect(told.filter((one) => one?.endsWith('-00'))).toEqual([
      expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`)),
    ])
  })
})
