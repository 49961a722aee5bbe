import type { Backlogs } from '../../stores/backlog/backlog.ts'
import type { Delivery, Topic } from './delivery.ts'
import { FOLD_MS, type Overflow, overflowOf } from './overflow.ts'
import { GATHER_MS, type RecordBuffer, type RecordBufferOptions, recordBuffer } from './record-buffer.ts'

export interface BufferedDeliveryOptions extends Omit<RecordBufferOptions, 'backlog' | 'fold' | 'foldAlone'> {
  /** The topics of records that an earlier process may have left. */
  readonly topics?: readonly Topic[]
  /** The place of records that the database does not accept in time. */
  readonly backlogs?: Backlogs
}

/** How long a write of entries takes at most, where nothing is wrong. */
const WRITE_MS = 100
/** The interval at which backlogs of ended processes are taken over. */
const ADOPT_EVERY_MS = 60_000

/** Gathers entries in memory and writes them in batches, for a runtime whose process outlives its requests. Entries
 *  that the database does not accept within a second are kept on disk, and written in order later. Without a disk, or
 *  without space, entries wait in memory up to a bound; beyond it they are added up, or dropped and counted if they
 *  cannot be. */
export function bufferedDelivery(options: BufferedDeliveryOptions): Delivery {
  const { topics = [], backlogs, log } = options
  const lanes = new Map<string, { readonly buffer: RecordBuffer; readonly overflow: Overflow }>()

  function laneOf(topic: Topic) {
    const found = lanes.get(topic.name)
    if (found) return found
    const overflow = overflowOf(topic, (of) => laneOf(of).buffer, options)
    const buffer = recordBuffer(topic, {
      ...options,
      backlog: backlogs?.of(topic.name),
      fold: overflow.add,
      foldAlone: overflow.addAlone,
    })
    const made = { buffer, overflow }
    lanes.set(topic.name, made)
    return made
  }

  function adopt(): void {
    backlogs?.adopt()
    for (const topic of topics) laneOf(topic).buffer.checkBacklog()
  }
  adopt()
  const adopting = backlogs ? setInterval(adopt, ADOPT_EVERY_MS).unref() : undefined

  const total = (count: (buffer: RecordBuffer) => number) =>
    [...lanes.values()].reduce((sum, { buffer }) => sum + count(buffer), 0)
  return {
    deliver: (topic, entry) => laneOf(topic as Topic).buffer.add(entry),
    depth: (topic) => lanes.get(topic)?.buffer.depth() ?? 0,
    lagMs: (topic) => lanes.get(topic)?.buffer.lagMs() ?? 0,
    async written(topic, matches, limitMs) {
      await lanes.get(topic.name)?.buffer.written(matches as (entry: object) => boolean, limitMs)
    },
    gathered: () => new Promise((resolve) => void setTimeout(resolve, GATHER_MS + WRITE_MS)),
    async drain(limitMs) {
      clearInterval(adopting)
      const deadline = performance.now() + limitMs
      await Promise.all([...lanes.values()].map(({ buffer }) => buffer.drain(limitMs)))
      // The sums of overflowed entries have buffers of their own.
      const sums = new Set([...lanes.values()].flatMap(({ overflow }) => overflow.end() ?? []))
      await Promise.all([...sums].map((buffer) => buffer.drain(Math.max(FOLD_MS, deadline - performance.now()))))
      // What is lost otherwise may have the last room of a full disk; sums take little of it.
      if (total((buffer) => buffer.waiting()) > 0 && backlogs?.makeRoom()) {
        for (const buffer of [...sums, ...[...lanes.values()].map((lane) => lane.buffer)]) await buffer.drain(0)
      }
      const lost = total((buffer) => buffer.waiting())
      const kept = total((buffer) => buffer.depth()) - lost
      if (kept > 0) log.warn('records.kept', { records: kept })
      return lost
    },
  }
}
