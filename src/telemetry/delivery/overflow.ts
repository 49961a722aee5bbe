import { type Log, throttled } from '../../lib/log.ts'
import type { RecordsMoved } from '../events.ts'
import type { RecordFold, Topic } from './delivery.ts'
import type { RecordBuffer } from './record-buffer.ts'

/** The time for which records are added up before their sums are written. */
export const FOLD_MS = 1000
const LOG_EVERY_MS = 60_000

/** Adds up the entries that exceed the capacity. */
export interface Overflow {
  add(entry: object): boolean
  addAlone(entry: object): boolean
  /** Passes the sums on; returns the buffer that got them. */
  end(): RecordBuffer | undefined
}

export function overflowOf(
  { name, folding }: Topic,
  bufferOf: (topic: Topic) => RecordBuffer,
  { log, report }: { readonly log: Log; readonly report: (event: RecordsMoved) => void },
): Overflow {
  if (!folding) return { add: () => false, addAlone: () => false, end: () => undefined }
  const { topic, begin, alone } = folding
  let fold: RecordFold | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const logFolded = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.error('records.folded', { topic: name, suppressed }),
  )

  /** Passes the sums on, or continues to add up while earlier sums are not written. */
  function handOn(): void {
    timer = undefined
    if (bufferOf(topic).waiting() > 0) timer = setTimeout(handOn, FOLD_MS)
    else end()
  }

  function end(): RecordBuffer | undefined {
    clearTimeout(timer)
    timer = undefined
    if (!fold) return undefined
    const buffer = bufferOf(topic)
    for (const sums of fold.end()) buffer.add(sums)
    fold = undefined
    return buffer
  }

  function count(): void {
    report({ type: 'records.folded', topic: name, records: 1, waitedMs: 0 })
    logFolded()
  }

  return {
    add(entry) {
      fold ??= begin()
      fold.add(entry)
      timer ??= setTimeout(handOn, FOLD_MS)
      count()
      return true
    },
    addAlone(entry) {
      try {
        bufferOf(topic).add(alone(entry))
      } catch {
        return false
      }
      count()
      return true
    },
    end,
  }
}
