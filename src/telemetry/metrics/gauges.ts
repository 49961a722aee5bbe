import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import { type Family, seriesName } from './render.ts'
import { SERIES_LIMIT } from './series-limit.ts'

interface Gauge {
  readonly name: string
  readonly help: string
  of(signals: DeploymentSignals, now: number): number
  /** Combines the values of deployments above the limit of series. */
  fold(one: number, other: number): number
}

const list: readonly Gauge[] = [
  {
    name: 'gateway_deployment_state',
    help: 'State of a deployment: 0 healthy, 1 probing, 2 cooling.',
    of: ({ cooledUntil, probing }, now) => (probing ? 1 : cooledUntil > now ? 2 : 0),
    fold: Math.max,
  },
  {
    name: 'gateway_deployment_active_requests',
    help: 'Calls in flight to a deployment.',
    of: ({ active }) => active,
    fold: (one, other) => one + other,
  },
  {
    name: 'gateway_deployment_cooldown',
    help: 'Seconds until a cooled deployment returns to rotation; 0 when it is in rotation.',
    of: ({ cooledUntil }, now) => Math.max(0, (cooledUntil - now) / 1000),
    fold: Math.max,
  },
]

/** The gauges of deployments at the time of the scrape. */
export function gauges(signals: readonly DeploymentSignals[], now: number): Family[] {
  const shown = signals.length > SERIES_LIMIT ? signals.slice(0, SERIES_LIMIT - 1) : signals
  const others = signals.slice(shown.length)
  return list.map(({ name, help, of, fold }) => {
    const series = shown.map(
      (signal) => [seriesName(name, { deployment: signal.deployment }), of(signal, now)] as const,
    )
    if (others.length > 0) {
      const folded = others.map((signal) => of(signal, now)).reduce((one, other) => fold(one, other))
      series.push([seriesName(name, { deployment: 'other' }), folded])
    }
    return { name, help, type: 'gauge', series }
  })
}

/** Whether this process works without the shared store. */
export function storeState(mode: 'shared' | 'local' | 'degraded'): Family {
  const name = 'gateway_store_degraded'
  return {
    name,
    help: 'Whether the shared store is away and this process counts by itself: 0 or 1.',
    type: 'gauge',
    series: [[name, mode === 'degraded' ? 1 : 0]],
  }
}

/** Batches that have not ended; nothing where that is unknown. */
export function activeBatches(active: number | undefined): Family[] {
  const name = 'gateway_batch_active'
  if (active === undefined) return []
  return [{ name, help: 'Batches that have not ended.', type: 'gauge', series: [[name, active]] }]
}

/** Events that wait in this process for their sinks. */
export function waitingEvents(states: readonly { readonly name: string; readonly queued: number }[]): Family[] {
  const name = 'gateway_sink_queue_depth'
  if (states.length === 0) return []
  const series = states.map(({ name: sink, queued }) => [seriesName(name, { sink }), queued] as const)
  return [{ name, help: 'Events that wait for a sink.', type: 'gauge', series }]
}

/** Records that wait in this process for the database. */
export function waitingRecords(depth: (topic: string) => number, topics: readonly string[]): Family[] {
  const waiting = 'gateway_records_waiting'
  return [
    {
      name: 'gateway_audit_queue_depth',
      help: 'Audit events that wait for the database.',
      type: 'gauge',
      series: [['gateway_audit_queue_depth', depth('audit')]],
    },
    {
      name: waiting,
      help: 'Records that wait for the database, by topic.',
      type: 'gauge',
      series: topics.map((topic) => [seriesName(waiting, { topic }), depth(topic)] as const),
    },
  ]
}
