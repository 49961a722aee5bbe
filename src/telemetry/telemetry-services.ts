import type { Config } from '../config/schema.ts'
import type { Log } from '../lib/log.ts'
import type { Timers } from '../lib/timers/timers.ts'
import type { SharedStore } from '../stores/kv/shared-store.ts'
import { budgetRecords } from '../stores/sql/records/budget-records.ts'
import type { Sql } from '../stores/sql/sql.ts'
import type { Transport } from '../transport/transport.ts'
import { type ContentDoor, contentDoor } from './content/content-door.ts'
import type { Delivery } from './delivery/delivery.ts'
import type { RecordsMoved } from './events.ts'
import { countedMetrics } from './metrics/counted-metrics.ts'
import type { Metric } from './metrics/metric.ts'
import { processGauges } from './metrics/process-gauges.ts'
import {
  type CounterScope,
  type Measured,
  measuring,
  type OwnProcess,
  processCounters,
  sharedCounters,
} from './metrics/scopes.ts'
import { withSinkSeries } from './metrics/sink-series.ts'
import { refusalCounter } from './refusals.ts'
import { configuredSinks } from './sinks/index.ts'
import type { Tally } from './sinks/lanes/tally.ts'
import type { ObjectWriter } from './sinks/s3-objects.ts'
import type { Sink, SinkLane } from './sinks/sink.ts'
import type { Sinks } from './sinks/sinks.ts'
import { type ReadTelemetry, telemetry } from './telemetry.ts'
import { upToDate } from './up-to-date.ts'

/** What a runtime brings for telemetry. */
export interface TelemetryAdapters {
  readonly store: SharedStore
  readonly sql: Sql
  readonly transport: Transport
  readonly log: Log
  /** Metric counters are kept in this process, or in the shared store together with those of other isolates. */
  readonly counting: 'process' | 'shared'
  /** Keeps a runtime alive for work that would otherwise end with the request. */
  readonly defer?: (work: Promise<void>) => void
  /** The memory of this runtime for request bodies and unread answers. */
  readonly memoryBytes: number
  /** Where a runtime bounds it: how many items of batches, probes, calls of tools or posts of a webhook wait for their
   *  answers at once in an event, whatever is configured. */
  readonly callsAtOnce?: number
  /** This process, if the runtime has one. */
  readonly process?: OwnProcess | undefined
  /** Delivers records to the database; `report` is called with the outcome. */
  readonly delivering: (report: (event: RecordsMoved) => void) => Delivery
  /** The way of events to a sink, where they do not wait in this process. */
  readonly sinkLane?: (sink: Sink, counts: Tally) => SinkLane
  /** The bucket for logs that the runtime itself is bound to. */
  readonly boundBucket?: ObjectWriter | undefined
  /** Where requests do not own their timers, and may share them. */
  readonly timers?: Timers
}

export interface TelemetryServices {
  readonly telemetry: ReadTelemetry
  /** Records on their way to the database. */
  readonly delivery: Delivery
  readonly sinks: Sinks
  readonly content: ContentDoor
  /** What is counted from events, with the labels that were chosen. */
  readonly metrics: readonly Metric[]
  /** Counters of all isolates on runtimes where they share no memory, else of the processes that share a port; gauges of
   *  this isolate, or of those processes. */
  readonly measured: () => Promise<Measured>
  /** Sends the counters that no settlement carries to the shared store; at most once a second. */
  readonly flushCounters: CounterScope['flush']
}

/** The stream of events with all its readers. */
export function telemetryServices(config: Config, adapters: TelemetryAdapters, now: () => number): TelemetryServices {
  const { store, sql, process } = adapters
  const metrics = countedMetrics(config)
  const scope = adapters.counting === 'process' ? processCounters(metrics) : sharedCounters(metrics, store)
  const delivery = adapters.delivering((event) => stream.emit(event))
  const refusals = refusalCounter(delivery, now, adapters.defer)
  const sinks = configuredSinks(config, { ...adapters, report: scope.count })
  const raising = { store, budgets: budgetRecords(sql) }
  const stream = telemetry({ ...adapters, counters: scope, delivery: refusals.delivery, sinks, refusals, raising })
  const read = upToDate({ counters: scope, delivery: refusals.delivery }, stream.catchUp)
  const gauges = () => processGauges(store.mode(), read.delivery, sinks.states(), process?.vitals())
  return {
    telemetry: stream,
    delivery: read.delivery,
    sinks,
    content: contentDoor(config.gateway_settings, sinks.takeContent, adapters.memoryBytes),
    metrics: withSinkSeries(metrics, sinks.byName.keys()),
    measured: measuring(read.counters, gauges, process?.pool),
    flushCounters: scope.flush,
  }
}
