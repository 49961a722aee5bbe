import { MOST_SERIES } from '../../stores/kv/counted-series.ts'
import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import { type Family, seriesName } from './render.ts'

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
  const shown = signals.length > MOST_SERIES ? signals.slice(0, MOST_SERIES - 1) : signals
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

/** Batches that have not ended; nothing where that is unknown. */
export function activeBatches(active: number | undefined): Family[] {
  const name = 'gateway_batch_active'
  if (active === undefined) return []
  return [{ name, help: 'Batches that have not ended.', type: 'gauge', series: [[name, active]] }]
}
