import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { Delivery } from '../delivery/delivery.ts'
import { topics } from '../topics.ts'
import { type Family, seriesName } from './render.ts'

/** The vital signs of a process, as its runtime knows them. */
export interface Vitals {
  /** This and `openFiles` are undefined where the system does not tell. */
  readonly residentBytes?: number | undefined
  /** Processor time since the start. */
  readonly cpuSeconds: number
  /** The delay of the event loop that one turn in a hundred exceeds. */
  readonly loopLagSeconds: number
  /** What keeps the event loop busy: sockets, timers, files, threads. */
  readonly activeResources: number
  readonly openFiles?: number | undefined
}

/** Current values, by the name of their series on the metrics page. */
export type Gauges = Readonly<Record<string, number>>

interface ProcessGauge {
  readonly name: string
  readonly help: string
  readonly type?: 'counter' | 'gauge'
  /** How the values of processes that share a port become one: all together, or the worst. */
  readonly of: 'sum' | 'most'
}

const gauges: readonly ProcessGauge[] = [
  {
    name: 'gateway_store_degraded',
    help: 'Whether the shared store is away and a process counts by itself: 0 or 1.',
    of: 'most',
  },
  { name: 'gateway_audit_queue_depth', help: 'Audit events that wait for the database.', of: 'sum' },
  { name: 'gateway_records_waiting', help: 'Records that wait for the database, by topic.', of: 'sum' },
  {
    name: 'gateway_records_lag_seconds',
    help: 'How long records have waited for the database at most, by topic.',
    of: 'most',
  },
  { name: 'gateway_sink_queue_depth', help: 'Events that wait for a sink.', of: 'sum' },
  { name: 'process_resident_memory_bytes', help: 'Resident memory.', of: 'sum' },
  { name: 'process_cpu_seconds_total', help: 'Processor time since the start.', type: 'counter', of: 'sum' },
  { name: 'process_open_fds', help: 'Open file descriptors.', of: 'sum' },
  {
    name: 'nodejs_active_resources',
    help: 'Sockets, timers, files and threads that keep the event loop busy.',
    of: 'sum',
  },
  {
    name: 'nodejs_eventloop_lag_p99_seconds',
    help: 'The delay of the event loop, 99th percentile of the last minute.',
    of: 'most',
  },
]

/** The gauges of a process; unknown parts are left out. */
export function processGauges(
  storeMode: ReturnType<SharedStore['mode']>,
  delivery: Pick<Delivery, 'depth' | 'lagMs'>,
  sinks: readonly { readonly name: string; readonly queued: number }[],
  vitals: Vitals | undefined,
): Gauges {
  const read: Record<string, number> = {
    gateway_store_degraded: storeMode === 'degraded' ? 1 : 0,
    gateway_audit_queue_depth: delivery.depth('audit'),
  }
  for (const { name: topic } of topics) {
    read[seriesName('gateway_records_waiting', { topic })] = delivery.depth(topic)
    if (delivery.lagMs) read[seriesName('gateway_records_lag_seconds', { topic })] = delivery.lagMs(topic) / 1000
  }
  for (const { name: sink, queued } of sinks) read[seriesName('gateway_sink_queue_depth', { sink })] = queued
  if (!vitals) return read
  if (vitals.residentBytes !== undefined) read.process_resident_memory_bytes = vitals.residentBytes
  read.process_cpu_seconds_total = vitals.cpuSeconds
  if (vitals.openFiles !== undefined) read.process_open_fds = vitals.openFiles
  read.nodejs_active_resources = vitals.activeResources
  read.nodejs_eventloop_lag_p99_seconds = vitals.loopLagSeconds
  return read
}

/** The gauges of several processes as those of one. */
export function combined(processes: readonly Gauges[]): Gauges {
  const all: Record<string, number> = {}
  for (const process of processes) {
    for (const [series, value] of Object.entries(process)) {
      const known = all[series]
      if (known === undefined) all[series] = value
      else all[series] = gaugeOf(series)?.of === 'most' ? Math.max(known, value) : known + value
    }
  }
  return all
}

/** Those that only grow. */
export function growing(read: Gauges): Gauges {
  return Object.fromEntries(Object.entries(read).filter(([series]) => gaugeOf(series)?.type === 'counter'))
}

export function processFamilies(read: Gauges): Family[] {
  return gauges.flatMap(({ name, help, type = 'gauge' }): Family[] => {
    const series = Object.entries(read).filter(([one]) => nameOf(one) === name)
    return series.length > 0 ? [{ name, help, type, series }] : []
  })
}

const nameOf = (series: string) => series.split('{', 1)[0]
const gaugeOf = (series: string) => gauges.find(({ name }) => name === nameOf(series))
