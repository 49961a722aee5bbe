import { through } from '../../../lib/bytes/through.ts'
import { lazily } from '../../../lib/lazily.ts'
import { reveal, type Secret, secret } from '../../../lib/secret.ts'
import type { Transport } from '../../../transport/transport.ts'
import type { CallFinished } from '../../events.ts'
import { post, type SinkRequest } from '../post.ts'
import { CALLS_ALONE, type Delivered, EVERYTHING, type Sink, type SinkEntry } from '../sink.ts'
import { keyValues } from './attributes.ts'
import { type DeltaIntervals, deltaIntervals } from './delta-intervals.ts'
import { callRecord, noticeRecord } from './log-records.ts'
import { EXPORTS, type Signal } from './messages.ts'
import { callMetrics } from './metrics.ts'
import { rejectedIn } from './partial-success.ts'
import { encode, type Json } from './protobuf.ts'
import { callSpans } from './spans.ts'
import { isSampled, type Sampling, traceparent } from './trace-ids.ts'

/** How a signal is exported. */
interface Export {
  readonly endpoint: Secret
  readonly headers: Readonly<Record<string, Secret>>
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly compression: 'none' | 'gzip'
  /** Seconds for an answer. */
  readonly timeout: number
}

export interface OtlpSettings extends Export {
  readonly service_name: string
  readonly resource_attributes: Readonly<Record<string, string>>
  readonly signals: readonly Signal[]
  /** Settings of single signals. An endpoint here is the whole address. */
  readonly per_signal: {
    readonly [signal in Signal]?: { readonly [option in keyof Export]?: Export[option] | undefined } | undefined
  }
  /** The share of traces that are sent. */
  readonly sampling: number
  /** A client's traceparent decides for its own traces. */
  readonly parent_based: boolean
}

const SCOPE = { name: 'model-gateway' }
const GATHERING = { entries: 512, bytes: 2_000_000, ms: 2000 }

/** Sinks for a collector of OpenTelemetry, over HTTP: one for each signal, so that a repeated delivery of one repeats no
 *  other. The first signal has the name of the callback, the others are `<name>.<signal>`. */
export function otlp(name: string, settings: OtlpSettings, transport: Transport): Sink[] {
  const sampling = { share: settings.sampling, isParentBased: settings.parent_based }
  const intervals = deltaIntervals()
  // Made with the first delivery: Workers have no random values before their first request.
  const resource = lazily(() => resourceOf(settings))
  return [...new Set(settings.signals)].map((signal, index): Sink => {
    const to = exportOf(signal, settings)
    return {
      name: index === 0 ? name : `${name}.${signal}`,
      gathering: GATHERING,
      takesContent: signal === 'traces',
      answerMs: 1000 * to.timeout,
      ...(signal === 'traces' ? { traceparent: (...of) => traceparent(sampling, ...of) } : {}),
      takes: signal === 'logs' ? EVERYTHING : CALLS_ALONE,
      leavesOut: ({ callId, trace }) => signal === 'traces' && !isSampled(callId, trace, sampling),
      async deliver(entries, abort) {
        const calls = entries.flatMap(({ event }) => (event.type === 'call.finished' ? [event] : []))
        const { told, failed } = TELLS[signal](entries, { calls, sampling, intervals })
        try {
          const request = await requestTo(to, signal, exported(signal, told, resource()))
          const { status, body } = await post(transport, request, abort)
          return outcome(status, { rejected: rejectedIn(body), told: itemsIn(signal, told), entries: entries.length })
        } catch (error) {
          failed?.()
          throw error
        }
      },
    }
  })
}

function exportOf(signal: Signal, settings: OtlpSettings): Export {
  const own = settings.per_signal[signal] ?? {}
  return {
    endpoint: own.endpoint ?? secret(`${reveal(settings.endpoint).replace(/\/+$/, '')}/v1/${signal}`),
    headers: own.headers ?? settings.headers,
    protocol: own.protocol ?? settings.protocol,
    compression: own.compression ?? settings.compression,
    timeout: own.timeout ?? settings.timeout,
  }
}

type Tells = (
  entries: readonly SinkEntry[],
  of: { readonly calls: readonly CallFinished[]; readonly sampling: Sampling; readonly intervals: DeltaIntervals },
) => { readonly told: readonly Json[]; readonly failed?: () => void }

const TELLS: Readonly<Record<Signal, Tells>> = {
  traces: (entries) => ({
    told: entries.flatMap(({ event, content }) => (event.type === 'call.finished' ? callSpans(event, content) : [])),
  }),
  metrics(_entries, { calls, intervals }) {
    const { metrics, failed } = callMetrics(calls, intervals)
    return { told: metrics, failed }
  },
  logs: (entries, { sampling }) => ({
    told: entries.map(({ event }) =>
      event.type === 'call.finished' ? callRecord(event, sampling) : noticeRecord(event),
    ),
  }),
}

/** Who tells it: an instance of its own for each process, since what two of them add is not one stream. */
function resourceOf({ service_name, resource_attributes }: OtlpSettings): Json {
  const instance = { 'service.instance.id': crypto.randomUUID() }
  return { attributes: keyValues({ ...instance, ...resource_attributes, 'service.name': service_name }) }
}

/** The number of spans, data points or log records. */
function itemsIn(signal: Signal, told: readonly Json[]): number {
  if (signal !== 'metrics') return told.length
  return told.reduce(
    (sum, metric) => sum + (metric.histogram as { readonly dataPoints: readonly Json[] }).dataPoints.length,
    0,
  )
}

function exported(signal: Signal, told: readonly Json[], resource: Json): Json {
  if (signal === 'traces') return { resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans: told }] }] }
  if (signal === 'metrics') return { resourceMetrics: [{ resource, scopeMetrics: [{ scope: SCOPE, metrics: told }] }] }
  return { resourceLogs: [{ resource, scopeLogs: [{ scope: SCOPE, logRecords: told }] }] }
}

async function requestTo(
  { endpoint, headers, protocol, compression }: Export,
  signal: Signal,
  told: Json,
): Promise<SinkRequest> {
  const isJson = protocol === 'http/json'
  const body = isJson ? new TextEncoder().encode(JSON.stringify(told)) : encode(told, EXPORTS[signal])
  const type = { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' }
  if (compression === 'none') return { url: reveal(endpoint), headers: { ...headers, ...type }, body }
  return {
    url: reveal(endpoint),
    headers: { ...headers, ...type, 'content-encoding': 'gzip' },
    body: await through(new CompressionStream('gzip'), body),
  }
}

/** The result of an export that the collector accepted in part, which must not be sent again. It counts rejected spans,
 *  data points or log records: the same share of the calls counts as refused. Its message may quote content, and is
 *  dropped. */
function outcome(
  status: number,
  { rejected, told, entries }: { readonly rejected: number; readonly told: number; readonly entries: number },
): Delivered {
  if (rejected === 0) return { answer: `it answered ${status}` }
  const refused = Math.min(entries, Math.ceil((entries * rejected) / Math.max(1, told)))
  return { answer: `it answered ${status}, and refused ${rejected} of ${told}`, refused }
}
