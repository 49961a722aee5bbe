import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { secret } from '../../../src/lib/secret.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { configuredSinks } from '../../../src/telemetry/sinks/index.ts'
import { otlp } from '../../../src/telemetry/sinks/otlp/otlp.ts'
import { rejectedIn } from '../../../src/telemetry/sinks/otlp/partial-success.ts'
import type { SinkEntry } from '../../../src/telemetry/sinks/sink.ts'
import { undiciTransport } from '../../../src/transport/undici.node.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { otelSettings } from '../../support/otel-settings.ts'
import { type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'

let receiver: SinkReceiver
const transport = undiciTransport()
beforeAll(async () => {
  receiver = await startSinkReceiver()
})
beforeEach(() => receiver.answer(() => ({ status: 200 })))
afterAll(() => Promise.all([receiver.close(), transport.close()]))

const entries: readonly SinkEntry[] = ['1', '2', '3', '4'].map((id) => ({
  id,
  event: finishedCall({ callId: `call_${id}`, tried: [], tools: [] }),
}))
const signal = new AbortController().signal
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('exports by OTEL_ variables', () => {
  it('go where they say, packed, with their headers, within their time', async () => {
    const config = loadConfig('gateway_settings: {success_callback: [otel]}', {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/base/`,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-all=1',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/in`,
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-own=2',
      OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '1',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_SERVICE_NAME: 'gate',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=no,service.version=7',
    })
    const noLane = () => ({ take() {}, hasRoom: () => true, depth: () => 0, drain: async () => 0 })
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const sinks = configuredSinks(config, { transport, sinkLane: noLane, log, report() {} })
    expect([...sinks.byName.keys()]).toEqual(['otel', 'otel.metrics'])
    const before = receiver.received.length
    await sinks.byName.get('otel')?.sink.deliver(entries, signal)
    await sinks.byName.get('otel.metrics')?.sink.deliver(entries, signal)
    const [traces, metrics] = receiver.received.slice(before)
    expect([traces?.path, traces?.headers['x-all'], traces?.headers['content-encoding']]).toEqual([
      '/base/v1/traces',
      '1',
      'gzip',
    ])
    expect([metrics?.path, metrics?.headers['x-all'], metrics?.headers['x-own']]).toEqual(['/in', undefined, '2'])
    const [told] = JSON.parse(gunzipSync(traces?.body ?? '').toString()).resourceSpans
    expect(told.scopeSpans[0].spans).toHaveLength(4)
    expect(told.resource.attributes).toEqual([
      { key: 'service.instance.id', value: { stringValue: expect.stringMatching(/^[0-9a-f-]{36}$/) } },
      { key: 'service.name', value: { stringValue: 'gate' } },
      { key: 'service.version', value: { stringValue: '7' } },
    ])
    receiver.answer(() => ({ status: 0 }))
    await expect(sinks.test('otel.metrics')).rejects.toThrow('there was no answer within 0.001 seconds')
  })

  it('are none where the SDK is disabled', () => {
    const config = loadConfig('gateway_settings: {success_callback: [otel]}', { OTEL_SDK_DISABLED: 'true' })
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const sinks = configuredSinks(config, { transport, log, report() {} })
    expect([sinks.byName.size, sinks.takeContent(), sinks.traceparent]).toEqual([0, false, undefined])
  })
})

describe('an export that is taken in part', () => {
  const partially = async (told: 'traces' | 'metrics' | 'logs', body: string | Buffer) => {
    receiver.answer(() => ({ status: 200, body }))
    const [sink] = otlp('otel', otelSettings({ endpoint: secret(receiver.url), signals: [told] }), transport)
    return sink?.deliver(entries, signal)
  }

  it.each([
    [
      'traces',
      '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"canary"}}',
      'it answered 200, and refused 1 of 4',
      1,
    ],
    ['logs', '{"partialSuccess":{"rejectedLogRecords":3}}', 'it answered 200, and refused 3 of 4', 3],
    ['metrics', '{"partialSuccess":{"rejectedDataPoints":"1"}}', 'it answered 200, and refused 1 of 3', 2],
    ['logs', hex('0a 0a 08 04 12 06 63616e617279'), 'it answered 200, and refused 4 of 4', 4],
    ['logs', hex('0a 08 12 06 63616e617279'), 'it answered 200', undefined],
    ['logs', '', 'it answered 200', undefined],
    ['logs', '{}', 'it answered 200', undefined],
  ] as const)('counts what was refused, and is not repeated: %s %j', async (told, body, answer, refused) => {
    expect(await partially(told, body)).toEqual(refused === undefined ? { answer } : { answer, refused })
  })

  it.each([
    // Two bytes of a number; fields of other kinds around it.
    ['12 02 6869 0a 0c 19 0000000000000000 08 ac02 9a', 300],
    ['0a 05 15 00000000 08 07', 0],
    ['0a 07 15 00000000 08 07', 7],
    // A length beyond the end, a number that does not end, a group, nothing.
    ['0a 7f 08 01', 0],
    ['0a ffffffffffffffffffffffff', 0],
    ['0a 04 0b 0c 08 01', 0],
    ['', 0],
    // Less than nothing.
    ['0a 0b 08 ffffffffffffffffff01', 0],
  ])('is read as protobuf: %s', (bytes, rejected) => {
    expect(rejectedIn(hex(bytes))).toBe(rejected)
  })
})
