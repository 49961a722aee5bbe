import { describeError, type Log, type LogFields } from '../lib/log.ts'
import type { SharedStore } from '../stores/kv/shared-store.ts'
import type { BudgetSpent } from '../stores/sql/records/budget-records.ts'
import { audit } from './audit.ts'
import { callLines } from './call-lines.ts'
import type { CallContent } from './content/recording.ts'
import type { Delivery } from './delivery.ts'
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

export function telemetry(
  log: Log,
  counters: CounterScope,
  delivery: Delivery,
  sinks?: Pick<Sinks, 'take' | 'traceparent'>,
  refusals?: Pick<RefusalCounter, 'count'>,
  shared?: { readonly store: Pick<SharedStore, 'raise'>; readonly defer?: (work: Promise<void>) => void },
): Telemetry {
  /** Beside everything else: no record waits for the shared store. */
  function raise(spent: readonly BudgetSpent[]): void {
    if (!shared) return
    const failed = (error: unknown) => log.warn('budgets.not_raised', { error: describeError(error) })
    const raising = shared.store.raise(spent).catch(failed)
    shared.defer?.(raising)
  }
  const logCall = callLines(log)
  return {
    traceparent: sinks?.traceparent,
    emit(event, content) {
      counters.count(event)
      if (event.type === 'records.written' && event.spent?.length) raise(event.spent)
      // Buffers and queues log their own failures, at most once a second.
      if (
        'records' in event ||
        'entries' in event ||
        event.type === 'field.dropped' ||
        event.type === 'prompt.resolved' ||
        event.type === 'batch.claimed' ||
        event.type === 'batch.item_ended'
      )
        return
      // The call of an item is written by whoever records the item, so that none of them is without the other.
      if (event.type === 'call.finished' && event.batchId === '') delivery.deliver(ledger, event)
      if (event.type === 'audit.recorded') delivery.deliver(audit, event.event)
      if (event.type === 'request.finished') refusals?.count(event)
      if (content && sinks) content.then((ready) => sinks.take(event, ready))
      else sinks?.take(event)
      if (event.type === 'call.finished') logCall(event)
      else log.info(event.type, fieldsOf(event))
    },
    settledCounters: counters.settled,
  }
}

/** The fields of the log line: the event without its time, which the line has. */
function fieldsOf(
  event: Exclude<TelemetryEvent, CallFinished | RecordsMoved | SinkMoved | BatchMoved | FieldDropped | PromptResolved>,
): LogFields {
  if (event.type === 'audit.recorded') {
    const { action, resource_id, actor_type, actor_id, request_id, status } = event.event
    return { action, resource_id, actor_type, actor_id, requestId: request_id, status }
  }
  const { type: _type, at: _at, ...fields } = event
  return fields
}
