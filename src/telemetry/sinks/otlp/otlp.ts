import { isRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { Secret } from '../../../lib/secret.ts'
import type { Transport } from '../../../transport/transport.ts'
import type { CallFinished, TelemetryEvent } from '../../events.ts'
import { post } from '../post.ts'
import type { Delivered, Sink, SinkEntry, SinkEvent } from '../sink.ts'
import { keyValues } from './attributes.ts'
import { callRecord } from './log-records.ts'
import { EXPORTS, type Signal } from './messages.ts'
import { callMetrics } from './metrics.ts'
import { encode, type Json } from './protobuf.ts'
import { callSpans } from './spans.ts'
import { isSampled, traceparent } from './trace-ids.ts'

export interface OtlpSettings {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, Secret>>
  readonly service_name: string
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly signals: readonly Signal[]
  /** The share of traces that are sent. */
  readonly sampling: number
}

const SCOPE = { name: 'model-gateway' }
const GATHERING = { entries: 512, bytes: 2_000_000, ms: 2000 }

/** Sinks for a collector of OpenTelemetry, over HTTP: one for each signal, so that a repeated delivery of one repeats no
 *  other. The first signal has the name of the callback, the others are `<name>.<signal>`. */
export function otlp(name: string, settings: OtlpSettings, transport: Transport): Sink[] {
  return [...new Set(settings.signals)].map(
    (signal, index): Sink => ({
      name: index === 0 ? name : `${name}.${signal}`,
      gathering: GATHERING,
      takesContent: signal === 'traces',
      ...(signal === 'traces' ? { traceparent: (...of) => traceparent(settings.sampling, ...of) } : {}),
      wants: (event: TelemetryEvent): event is SinkEvent =>
        event.type === 'call.finished' &&
        (signal !== 'traces' || isSampled(event.callId, event.trace, settings.sampling)),
      async deliver(entries, abort) {
        const calls = entries.flatMap(({ event }) => (event.type === 'call.finished' ? [event] : []))
        const told = TELLS[signal](entries, calls, settings)
        const request = exported(signal, told, settings)
        const { status, body } = await post(transport, requestTo(settings, signal, request), abort)
        return outcome(status, parseRecord(body))
      },
    }),
  )
}

type Tells = (entries: readonly SinkEntry[], calls: readonly CallFinished[], settings: OtlpSettings) => readonly Json[]

const TELLS: Readonly<Record<Signal, Tells>> = {
  traces: (entries) =>
    entries.flatMap(({ event, content }) => (event.type === 'call.finished' ? callSpans(event, content) : [])),
  metrics: (_entries, calls) => callMetrics(calls),
  logs: (_entries, calls, { sampling }) => calls.map((call) => callRecord(call, sampling)),
}

function exported(signal: Signal, told: readonly Json[], { service_name }: OtlpSettings): Json {
  const resource = { attributes: keyValues({ 'service.name': service_name }) }
  if (signal === 'traces') return { resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans: told }] }] }
  if (signal === 'metrics') return { resourceMetrics: [{ resource, scopeMetrics: [{ scope: SCOPE, metrics: told }] }] }
  return { resourceLogs: [{ resource, scopeLogs: [{ scope: SCOPE, logRecords: told }] }] }
}

function requestTo({ endpoint, headers, protocol }: OtlpSettings, signal: Signal, request: Json) {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/${signal}`
  const isJson = protocol === 'http/json'
  return {
    url,
    headers: { ...headers, 'content-type': isJson ? 'application/json' : 'application/x-protobuf' },
    body: isJson ? JSON.stringify(request) : encode(request, EXPORTS[signal]),
  }
}

/** A collector that speaks JSON says how much of it it refused; protobuf's answer of that is not read. */
function outcome(status: number, answer: Json | undefined): Delivered {
  const partial = isRecord(answer?.partialSuccess) ? answer.partialSuccess : {}
  const rejected = Number(partial.rejectedSpans ?? partial.rejectedDataPoints ?? partial.rejectedLogRecords ?? 0)
  return { answer: rejected > 0 ? `it answered ${status}, and refused a part` : `it answered ${status}` }
}
