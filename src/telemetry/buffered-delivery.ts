import { throttled } from '../lib/log.ts'
import type { Backlogs } from '../stores/backlog/backlog.ts'
import type { Delivery, RecordFold, Topic } from './delivery.ts'
import { type RecordBuffer, type RecordBufferOptions, recordBuffer } from './record-buffer.ts'

export interface BufferedDeliveryOptions extends Omit<RecordBufferOptions, 'backlog' | 'fold' | 'foldAlone'> {
  /** Every kind of record that an earlier process may have left. */
  readonly topics?: readonly Topic[]
  /** Where records go that the database does not take soon. */
  readonly backlogs?: Backlogs
}

/** How soon is found what a process left that died beside this one. */
const ADOPT_EVERY_MS = 60_000
/** How long records are added up before their sums go on. */
const FOLD_MS = 1000
const LOG_EVERY_MS = 60_000

/** Gathers entries in memory and writes them in batches, for a runtime whose process outlives its requests. What the
 *  database does not take within a second is kept on disk, and written in order when it does; where there is no disk, or
 *  no more room, entries wait in memory up to a bound, and what comes after that is added up. What cannot be added up is
 *  dropped, and counted. */
export function bufferedDelivery(options: BufferedDeliveryOptions): Delivery {
  const { topics = [], backlogs, log } = options
  const ways = new Map<string, { readonly buffer: RecordBuffer; readonly overflow: Overflow }>()

  function wayOf(topic: Topic) {
    const found = ways.get(topic.name)
    if (found) return found
    const overflow = overflowOf(topic, (of) => wayOf(of).buffer, options)
    const buffer = recordBuffer(topic, {
      ...options,
      backlog: backlogs?.of(topic.name),
      fold: overflow.add,
      foldAlone: overflow.addAlone,
    })
    const made = { buffer, overflow }
    ways.set(topic.name, made)
    return made
  }

  function adopt(): void {
    backlogs?.adopt()
    for (const topic of topics) wayOf(topic).buffer.look()
  }
  adopt()
  const adopting = backlogs ? setInterval(adopt, ADOPT_EVERY_MS).unref() : undefined

  const total = (count: (buffer: RecordBuffer) => number) =>
    [...ways.values()].reduce((sum, { buffer }) => sum + count(buffer), 0)
  return {
    deliver: (topic, entry) => wayOf(topic as Topic).buffer.add(entry),
    depth: (topic) => ways.get(topic)?.buffer.depth() ?? 0,
    async drain(limitMs) {
      clearInterval(adopting)
      const deadline = Date.now() + limitMs
      await Promise.all([...ways.values()].map(({ buffer }) => buffer.drain(limitMs)))
      // What overflowed goes to buffers of its own.
      const sums = new Set([...ways.values()].flatMap(({ overflow }) => overflow.end() ?? []))
      await Promise.all([...sums].map((buffer) => buffer.drain(Math.max(FOLD_MS, deadline - Date.now()))))
      const lost = total((buffer) => buffer.waiting())
      const kept = total((buffer) => buffer.depth()) - lost
      if (kept > 0) log.warn('records.kept', { records: kept })
      return lost
    },
  }
}

/** What there is no room for, added up. */
interface Overflow {
  add(entry: object): boolean
  addAlone(entry: object): boolean
  /** Hands everything on, and says to whom. */
  end(): RecordBuffer | undefined
}

function overflowOf(
  { name, folding }: Topic,
  bufferOf: (topic: Topic) => RecordBuffer,
  { log, report }: BufferedDeliveryOptions,
): Overflow {
  if (!folding) return { add: () => false, addAlone: () => false, end: () => undefined }
  const { topic, begin, alone } = folding
  let fold: RecordFold | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const tell = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.error('records.folded', { topic: name, suppressed }),
  )

  /** While the last sums are not safe, more is added up instead. */
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
    tell()
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
