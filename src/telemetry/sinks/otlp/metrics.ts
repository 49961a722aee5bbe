import type { CallFinished } from '../../events.ts'
import { type Attributes, callAttributes, firstChunkSeconds, keyValues, nanos, timesOf } from './attributes.ts'
import type { DeltaIntervals, Interval } from './delta-intervals.ts'
import type { Json } from './protobuf.ts'

const DELTA = 1

/** The conventions' buckets. */
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]

interface Observed {
  readonly attributes: Attributes
  readonly value: number
}

/** The metrics of one delivery. */
export interface ToldMetrics {
  readonly metrics: readonly Json[]
  /** The delivery failed: its calls are told again. */
  failed(): void
}

/** The histograms of the conventions over the calls of one delivery, with delta temporality. */
export function callMetrics(calls: readonly CallFinished[], intervals: DeltaIntervals): ToldMetrics {
  if (calls.length === 0) return { metrics: [], failed() {} }
  const times = calls.map(timesOf)
  const first = Math.min(...times.map(({ began }) => began))
  const interval = intervals.next(first, Math.max(...times.map(({ ended }) => ended)))
  const tokens = calls.flatMap((call): Observed[] => {
    if (!call.usage) return []
    const of = (type: string, value: number) => ({ attributes: { ...labels(call), 'gen_ai.token.type': type }, value })
    return [of('input', call.usage.inputTokens), of('output', call.usage.outputTokens)]
  })
  const durations = calls.map((call) => ({
    attributes: { ...labels(call), 'error.type': call.errorType },
    value: call.totalMs / 1000,
  }))
  const firsts = calls.flatMap((call) => {
    const value = firstChunkSeconds(call)
    return value === undefined ? [] : [{ attributes: labels(call), value }]
  })
  const metrics = [
    histogram('gen_ai.client.token.usage', '{token}', tokens, TOKENS, interval),
    histogram('gen_ai.client.operation.duration', 's', durations, SECONDS, interval),
    histogram('gen_ai.client.operation.time_to_first_chunk', 's', firsts, SECONDS, interval),
  ].filter(({ histogram: { dataPoints } }) => dataPoints.length > 0)
  return { metrics, failed: interval.failed }
}

const LABELS = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.response.model']

function labels(call: CallFinished): Attributes {
  const all = callAttributes(call)
  return Object.fromEntries(LABELS.map((name) => [name, all[name]]))
}

function histogram(
  name: string,
  unit: string,
  observed: readonly Observed[],
  bounds: readonly number[],
  { startOf, end }: Interval,
) {
  const byLabels = Map.groupBy(observed, ({ attributes }) => JSON.stringify(attributes))
  const dataPoints = [...byLabels].map(([series, some]) => {
    const values = some.map(({ value }) => value)
    const counts = [...bounds, Number.POSITIVE_INFINITY].map(() => 0)
    for (const value of values) {
      const at = bounds.findIndex((bound) => value <= bound)
      const bucket = at === -1 ? bounds.length : at
      counts[bucket] = (counts[bucket] as number) + 1
    }
    return {
      startTimeUnixNano: nanos(startOf(`${name} ${series}`)),
      timeUnixNano: nanos(end),
      attributes: keyValues(some[0]?.attributes ?? {}),
      count: String(values.length),
      sum: values.reduce((sum, value) => sum + value, 0),
      min: Math.min(...values),
      max: Math.max(...values),
      bucketCounts: counts.map(String),
      explicitBounds: bounds,
    }
  })
  return { name, unit, histogram: { dataPoints, aggregationTemporality: DELTA } }
}
