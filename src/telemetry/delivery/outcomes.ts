import { describeError, type Log, type LogFields, throttled } from '../../lib/log.ts'
import type { RecordsMoved } from '../events.ts'

const LOG_EVERY_MS = 1000
const FOLDED_LOG_EVERY_MS = 60_000

/** Tells what became of entries: all of it to the metrics, and failures and losses to the log, at most once a second. */
export interface Outcomes<Some> {
  /** Why an attempt failed last; '' if none has. Lines of losses name it. */
  lastError(): string
  /** An attempt failed, and what follows from that is told by itself. */
  refused(error: unknown): void
  moved(type: Exclude<RecordsMoved['type'], 'records.failed'>, some: Some, spent?: RecordsMoved['spent']): void
  /** An attempt failed, with these entries if it had any. */
  failed(error: unknown, some?: Some): void
  notQueued(error: unknown): void
}

export interface OutcomesOptions<Some> {
  readonly log: Log
  readonly report: (event: RecordsMoved) => void
  readonly measure: (some: Some) => Pick<RecordsMoved, 'topic' | 'records' | 'waitedMs'>
  /** What waits, for the lines of the log. */
  readonly state: () => LogFields
}

export function outcomes<Some>({ log, report, measure, state }: OutcomesOptions<Some>): Outcomes<Some> {
  let lastError = ''
  const line = (level: 'warn' | 'error', name: string, everyMs = LOG_EVERY_MS) =>
    throttled(everyMs, Date.now, (suppressed) => log[level](name, { ...state(), error: lastError, suppressed }))
  const logNotQueued = line('warn', 'records.not_queued')
  const logFailed = line('warn', 'records.failed')
  const logLoss: Partial<Record<RecordsMoved['type'], () => void>> = {
    'records.dropped': line('error', 'records.dropped'),
    'records.dead': line('error', 'records.dead'),
    'records.folded': line('error', 'records.folded', FOLDED_LOG_EVERY_MS),
  }
  const tell = (type: RecordsMoved['type'], some: Some, spent?: RecordsMoved['spent']) =>
    report({ type, ...measure(some), spent })

  return {
    lastError: () => lastError,
    refused(error) {
      lastError = describeError(error)
    },
    moved(type, some, spent) {
      tell(type, some, spent)
      logLoss[type]?.()
    },
    failed(error, some) {
      lastError = describeError(error)
      if (some !== undefined) tell('records.failed', some)
      logFailed()
    },
    notQueued(error) {
      lastError = describeError(error)
      logNotQueued()
    },
  }
}
