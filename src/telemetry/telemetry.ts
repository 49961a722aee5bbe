import { describeError, type Log, type LogFields } from '../lib/log.ts'
import { readBehind } from '../lib/timers/read-behind.ts'
import type { Timers } from '../lib/timers/timers.ts'
import type { SharedStore } from '../stores/kv/shared-store.ts'
import type { BudgetRecords } from '../stores/sql/records/budget-records.ts'
import { audit } from './audit.ts'
import { budgetsRaised } from './budgets-raised.ts'
import { callLines } from './call-lines.ts'
import type { CallContent } from './content/recording.ts'
import type { Delivery } from './delivery/delivery.ts'
import type {
  BatchMoved,
  CallFinished,
  FieldDropped,
  PromptResolved,
  RecordsMoved,
  SinkMoved,
  TelemetryEvent,
} from './events.ts'
import { ledger } from './ledger.ts'
import type { CounterScope } from './metrics/scopes.ts'
import type { RefusalCounter } from './refusals.ts'
import type { Sinks } from './sinks/sinks.ts'

/** The stream of events. Ledger, metrics, audit and sinks read it; the code that emits events does not know its readers. */
export interface Telemetry {
  /** `content` of a call reaches sinks alone; they are told of the call when it is ready. */
  emit(event: TelemetryEvent, content?: Promise<CallContent | undefined>): void
  /** The header by which upstreams continue traces; undefined where none are told. */
  readonly traceparent?: Sinks['traceparent']
  /** The counts that the next settlement adds to the shared counters. */
  settledCounters(): Record<string, number>
}

/** The same, for those who look at what its readers have made of it. */
export interface ReadTelemetry extends Telemetry {
  /** Has every event read that was emitted so far. */
  catchUp(): void
  /** Resolves when the shared store has been told of everything that was written so far, or is away. */
  raised(): Promise<unknown>
}

/** What is counted, and nothing else: buffers and queues log their own failures, at most once a second. */
type Counted = RecordsMoved | SinkMoved | BatchMoved | FieldDropped | PromptResolved
type Told = Exclude<TelemetryEvent, Counted>

export interface TelemetryOptions {
  readonly log: Log
  readonly counters: CounterScope
  readonly delivery: Delivery
  readonly sinks?: Pick<Sinks, 'take' | 'traceparent'>
  readonly refusals?: Pick<RefusalCounter, 'count'>
  /** Told of what budgets have spent. */
  readonly raising?: { readonly store: Pick<SharedStore, 'raise'>; readonly budgets: Pick<BudgetRecords, 'spent'> }
  readonly defer?: (work: Promise<void>) => void
  /** Events may wait some milliseconds for the readers that are in this process. */
  readonly timers?: Timers
}

export function telemetry(options: TelemetryOptions): ReadTelemetry {
  const { log, counters, delivery, sinks, refusals, raising, timers } = options
  const budgets = raising && budgetsRaised({ ...options, ...raising })

  /** Counts what the ledger has: a try that its batch repeats is no call. Tries are counted with the items. */
  function count(event: Told): void {
    if (event.type !== 'call.finished' || !event.repeats) counters.count(event)
  }

  function deliver(event: Told): void {
    // The call of an item is written by whoever records the item, so that none of them is without the other.
    if (event.type === 'call.finished' && event.batchId === '') delivery.deliver(ledger, event)
    if (event.type === 'audit.recorded') delivery.deliver(audit, event.event)
    if (event.type === 'request.finished') refusals?.count(event)
  }

  const logCall = callLines(log)
  function write(event: Told): void {
    if (event.type === 'call.finished') logCall(event)
    else log.info(event.type, fieldsOf(event), event.at)
  }

  /** A reader that fails must not keep others from what they read. */
  const guarded = (read: (event: Told) => void) => (event: Told) => {
    try {
      read(event)
    } catch (error) {
      log.error('event.unread', { type: event.type, error: describeError(error) })
    }
  }
  const told = readBehind([count, deliver, write].map(guarded), timers)
  return {
    traceparent: sinks?.traceparent,
    emit(event, content) {
      if (isCounted(event)) {
        counters.count(event)
        if (event.type === 'records.written' && event.spent?.length) budgets?.raise(event.spent)
        return
      }
      told.add(event)
      // Sinks, which have lanes of their own, are told in the order in which contents are ready.
      if (content && sinks) content.then((ready) => sinks.take(event, ready))
      else sinks?.take(event)
    },
    settledCounters: counters.settled,
    catchUp: told.catchUp,
    raised: async () => budgets?.raised(),
  }
}

const COUNTED: Readonly<Record<Counted['type'], true>> = {
  'records.written': true,
  'records.failed': true,
  'records.kept': true,
  'records.folded': true,
  'records.dead': true,
  'records.dropped': true,
  'sink.delivered': true,
  'sink.failed': true,
  'sink.dropped': true,
  'batch.claimed': true,
  'batch.item_ended': true,
  'field.dropped': true,
  'prompt.resolved': true,
}

function isCounted(event: TelemetryEvent): event is Counted {
  return event.type !== 'call.finished' && Object.hasOwn(COUNTED, event.type)
}

/** The fields of the log line: the event without its time, which the line has. */
function fieldsOf(event: Exclude<Told, CallFinished>): LogFields {
  if (event.type === 'audit.recorded') {
    const { action, resource_id, actor_type, actor_id, request_id, status } = event.event
    return { action, resource_id, actor_type, actor_id, requestId: request_id, status }
  }
  const { type: _type, at: _at, ...fields } = event
  return fields
}
