import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { secret } from '../../src/lib/secret.ts'
import { usageOf } from '../../src/modes/usage.ts'
import { otlp } from '../../src/telemetry/sinks/otlp/otlp.ts'
import { rejectedIn } from '../../src/telemetry/sinks/otlp/partial-success.ts'
import type { SinkEntry } from '../../src/telemetry/sinks/sink.ts'
import { undiciTransport } from '../../src/transport/undici.node.ts'
import { finishedCall } from '../support/finished-calls.ts'
import { otelSettings } from '../support/otel-settings.ts'
import { type SinkReceiver, startSinkReceiver } from '../support/sink-receiver.node.ts'

/** What is generated from the definitions of opentelemetry-proto, as OpenTelemetry publishes it. */
interface Type {
  decode(bytes: Uint8Array): object
  toObject(message: object, options: object): Record<string, unknown>
  fromObject(value: object): object
  verify(value: object): string | null
}
type Written = Type & { encode(message: object): { finish(): Uint8Array } }
const { opentelemetry } = createRequire(import.meta.url)('@opentelemetry/otlp-transformer/build/src/generated/root.js')
const { collector } = opentelemetry.proto
const TYPES: Readonly<Record<'traces' | 'metrics' | 'logs', Type>> = {
  traces: collector.trace.v1.ExportTraceServiceRequest,
  metrics: collector.metrics.v1.ExportMetricsServiceRequest,
  logs: collector.logs.v1.ExportLogsServiceRequest,
}

let receiver: SinkReceiver
const transport = undiciTransport()
beforeAll(async () => {
  // Both exports are of one moment.
  vi.useFakeTimers({ toFake: ['Date'] })
  receiver = await startSinkReceiver()
})
afterAll(async () => {
  vi.useRealTimers()
  await Promise.all([receiver.close(), transport.close()])
})

const attempt = {
  provider: 'openai',
  result: 'answered',
  error: '',
  usage: usageOf({ inputTokens: 10, outputTokens: 5 }),
  costNano: 1500,
  firstTokenMs: 3,
  totalMs: 9,
  group: 'smart',
  message: '',
  upstreamStatus: undefined,
  upstreamMessage: '',
} as const
const entries: readonly SinkEntry[] = [
  {
    id: 'call_1',
    event: finishedCall({
      callId: 'call_1',
      tags: ['red', 'Grüße'],
      trace: {
        traceId: undefined,
        sessionId: 's',
        user: 'ann',
        parent: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true },
      },
      tried: [
        { ...attempt, deployment: 'a', turn: 1, startedMs: 0.5, result: 'failed', error: 'timeout' },
        { ...attempt, deployment: 'b', turn: 1, startedMs: 11 },
      ],
      tools: [{ server: 'docs', tool: 'look', result: 'ok', ms: 4, startedMs: 21 }],
      attempts: 2,
    }),
    content: { request: '{"messages":[{"role":"user","content":"你好"}]}', answer: '{"choices":[]}' },
  },
  { id: 'call_2', event: finishedCall({ callId: 'call_2', errorType: 'api_error', status: 502, usage: undefined }) },
]

describe.each(['traces', 'metrics', 'logs'] as const)('what is exported of %s', (signal) => {
  async function exported(protocol: 'http/protobuf' | 'http/json') {
    const resource_attributes = { 'service.instance.id': 'one' }
    const endpoint = secret(receiver.url)
    const settings = otelSettings({ endpoint, signals: [signal], protocol, resource_attributes })
    const [sink] = otlp('otel', settings, transport)
    await sink?.deliver(entries, new AbortController().signal)
    return receiver.received.at(-1)
  }

  it('is, in protobuf, what it is in JSON, by the official definitions', async () => {
    const type = TYPES[signal]
    const inJson = JSON.parse((await exported('http/json'))?.body.toString() ?? '')
    const binary = await exported('http/protobuf')
    expect([binary?.path, binary?.headers['content-type']]).toEqual([`/v1/${signal}`, 'application/x-protobuf'])
    const decoded = type.toObject(type.decode(binary?.body ?? new Uint8Array()), { longs: String, bytes: Array })
    const read = JSON.parse(JSON.stringify(decoded))
    expect(plain(read)).toEqual(plain(withBytes(inJson)))
    // Nothing was written that the definitions do not know: what was read is as long when it is written again.
    const again = (type as Written).encode(type.decode(binary?.body ?? new Uint8Array())).finish()
    expect(again.byteLength).toBe(binary?.body.byteLength)
    expect(JSON.stringify(read).length).toBeGreaterThan(500)
  })
})

it.each<[name: string, response: Written, rejected: string]>([
  ['traces', collector.trace.v1.ExportTraceServiceResponse, 'rejectedSpans'],
  ['metrics', collector.metrics.v1.ExportMetricsServiceResponse, 'rejectedDataPoints'],
  ['logs', collector.logs.v1.ExportLogsServiceResponse, 'rejectedLogRecords'],
])('an export of %s that is taken in part is understood, by the official definitions', (_name, response, rejected) => {
  for (const count of [0, 1, 127, 128, 70_000]) {
    const message = response.fromObject({ partialSuccess: { errorMessage: 'too many', [rejected]: count } })
    expect(rejectedIn(response.encode(message).finish())).toBe(count)
    expect(rejectedIn(Buffer.from(JSON.stringify(response.toObject(message, { longs: String }))))).toBe(count)
  }
  expect(rejectedIn(response.encode(response.fromObject({})).finish())).toBe(0)
})

/** Ids in OTLP/JSON are hexadecimal; in the definitions they are bytes. */
function withBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBytes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      /^(traceId|spanId|parentSpanId)$/.test(name) ? [...Buffer.from(String(one), 'hex')] : withBytes(one),
    ]),
  )
}

/** Without empty lists and messages, which protobuf may leave out. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).flatMap(([name, one]) => {
    const inner = plain(one)
    const isEmpty = typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0
    return isEmpty ? [] : [[name, inner]]
  })
  return Object.fromEntries(kept)
}
