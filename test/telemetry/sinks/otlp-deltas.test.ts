import { describe, expect, it } from 'vitest'
import { usageOf } from '../../../src/modes/usage.ts'
import type { CallFinished } from '../../../src/telemetry/events.ts'
import { callAttributes } from '../../../src/telemetry/sinks/otlp/attributes.ts'
import { deltaIntervals } from '../../../src/telemetry/sinks/otlp/delta-intervals.ts'
import { callMetrics } from '../../../src/telemetry/sinks/otlp/metrics.ts'
import { otlp } from '../../../src/telemetry/sinks/otlp/otlp.ts'
import type { SinkEntry } from '../../../src/telemetry/sinks/sink.ts'
import type { Transport } from '../../../src/transport/transport.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { otelSettings } from '../../support/otel-settings.ts'

interface Point {
  readonly startTimeUnixNano: string
  readonly timeUnixNano: string
  readonly count: string
  readonly attributes: unknown
}

/** A collector whose exporter for Prometheus adds deltas up by its own rules.
 *  @see https://github.com/open-telemetry/opentelemetry-collector-contrib/blob/main/exporter/prometheusexporter/accumulator.go */
function collector() {
  const streams = new Map<string, { end: bigint; count: number; dropped: number; resets: number }>()
  const far = { status: 200 }
  const add = (stream: string, { startTimeUnixNano, timeUnixNano, count }: Point) => {
    const [start, end] = [BigInt(startTimeUnixNano), BigInt(timeUnixNano)]
    expect(end > start).toBe(true)
    const known = streams.get(stream)
    if (!known) streams.set(stream, { end, count: Number(count), dropped: 0, resets: 0 })
    else if (start < known.end) known.dropped += Number(count)
    else {
      const isReset = start > known.end
      known.resets += isReset ? 1 : 0
      known.count = isReset ? Number(count) : known.count + Number(count)
      known.end = end
    }
  }
  const transport: Pick<Transport, 'send'> = {
    async send({ body }) {
      const { status } = far
      if (status === 200) {
        for (const { resource, scopeMetrics } of JSON.parse(new TextDecoder().decode(body as Uint8Array))
          .resourceMetrics) {
          for (const { name, histogram } of scopeMetrics[0].metrics) {
            for (const point of histogram.dataPoints as Point[])
              add(JSON.stringify([resource, name, point.attributes]), point)
          }
        }
      }
      return { status, headers: {}, body: { bytes: async () => new Uint8Array() } } as never
    },
  }
  const sink = () => {
    const [made] = otlp('otel', otelSettings({ signals: ['metrics'], protocol: 'http/json' }), transport as Transport)
    return made as NonNullable<typeof made>
  }
  return { streams, far, sink }
}

describe('what the conventions have for streams', () => {
  const usage = usageOf({ outputTokens: 9, reasoningTokens: 7, cacheCreationInputTokens: 5, audioInputTokens: 3 })
  const told = { firstTokenMs: 250, usage, provider: 'moonshot', prompt: 'support@home@3' }

  it('is told of streamed calls alone', () => {
    const [streamed, whole] = [finishedCall({ ...told, streamed: true }), finishedCall({ ...told, streamed: false })]
    const names = (call: CallFinished) => callMetrics([call], deltaIntervals()).metrics.map(({ name }) => name)
    expect(names(streamed)).toContain('gen_ai.client.operation.time_to_first_chunk')
    expect(names(whole)).toEqual(['gen_ai.client.token.usage', 'gen_ai.client.operation.duration'])
    expect(callAttributes(streamed)).toMatchObject({
      'gen_ai.provider.name': 'moonshot_ai',
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': 0.25,
      'gen_ai.usage.reasoning.output_tokens': 7,
      'gen_ai.usage.cache_write.input_tokens': 5,
      'gen_ai.usage.audio.input_tokens': 3,
      'gen_ai.prompt.name': 'support@home',
      'gen_ai.prompt.version': '3',
    })
    expect(callAttributes(whole)['gen_ai.request.stream']).toBeUndefined()
    expect(callAttributes(whole)['gen_ai.response.time_to_first_chunk']).toBeUndefined()
  })
})

const signal = new AbortController().signal
let calls = 0
/** A call of a model that took so long. */
const call = (model: string, totalMs: number): SinkEntry => {
  const callId = `call_${++calls}`
  const at = new Date().toISOString()
  return { id: callId, event: finishedCall({ callId, at, requestedModel: model, model, totalMs }) }
}

describe('deltas of metrics', () => {
  it('follow each other without a gap, so that who adds them up has every call', async () => {
    const { streams, far, sink } = collector()
    const to = sink()
    await to.deliver([call('a', 5), call('b', 5)], signal)
    // These began before the last delivery was made.
    await to.deliver([call('a', 60_000), call('a', 1000)], signal)
    far.status = 503
    await expect(to.deliver([call('a', 5)], signal)).rejects.toThrow('503')
    far.status = 200
    await to.deliver([call('a', 5), call('a', 30_000)], signal)
    await to.deliver([call('b', 90_000)], signal)
    const durations = [...streams].filter(([stream]) => stream.includes('duration'))
    expect(durations.map(([stream, { count }]) => [/"(a|b)"/.exec(stream)?.[1], count])).toEqual([
      ['a', 5],
      ['b', 2],
    ])
    expect([...streams.values()].filter(({ dropped, resets }) => dropped + resets > 0)).toEqual([])
  })

  it('of two processes are streams of their own', async () => {
    const { streams, sink } = collector()
    const [one, other] = [sink(), sink()]
    for (const to of [one, other, one, other]) await to.deliver([call('a', 5)], signal)
    const durations = [...streams].filter(([stream]) => stream.includes('duration'))
    expect(durations.map(([, { count, dropped }]) => [count, dropped])).toEqual([
      [2, 0],
      [2, 0],
    ])
  })

  it('of more streams than are remembered never go back', () => {
    let now = 1000
    const intervals = deltaIntervals(() => now, 2)
    const tell = (...streams: string[]) => {
      const interval = intervals.next(now - 900, now - 10)
      const starts = streams.map((stream) => interval.startOf(stream))
      now += 100
      return [...starts, interval.end]
    }
    expect(tell('a')).toEqual([100, 1000])
    expect(tell('a', 'b')).toEqual([1000, 200, 1100])
    expect(tell('c', 'a')).toEqual([1100, 1100, 1200])
    // A clock that stands still.
    now = 1100
    expect(tell('a')).toEqual([1200, 1201])
  })
})
