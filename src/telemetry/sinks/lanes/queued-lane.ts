import { describeError, type Log } from '../../../lib/log.ts'
import type { Queue } from '../../../stores/queue/queue.ts'
import { turns } from '../../delivery/turns.ts'
import type { Sink, SinkEntry, SinkFailure, SinkLane } from '../sink.ts'
import { attemptDelivery } from './attempt.ts'
import { sinkMessage } from './queued-entries.ts'
import { sizeOf } from './size-of.ts'
import type { Tally } from './tally.ts'

export interface QueuedLaneOptions {
  readonly queue: Queue
  readonly log: Log
  /** Keeps the runtime alive for work that outlives an answer. */
  readonly defer: (work: Promise<unknown>) => void
  readonly now?: () => number
}

/** The most that waits in an isolate. */
const CAPACITY = { entries: 500, bytes: 4 * 1024 * 1024 }
const MOST_A_SEND = 100

/** Hands entries to the queue of the runtime, because an isolate may end with any request; the queue's consumer delivers
 *  them. What the queue refuses is sent to the far end at once, and dropped if that fails too. */
export function queuedLane(sink: Sink, counts: Tally, options: QueuedLaneOptions): SinkLane {
  const { queue, log, defer, now = Date.now } = options
  let waiting: SinkEntry[] = []
  let waitingBytes = 0
  /** The entries that a request is sending. If it is killed, the next one sends them too. */
  let inFlight: readonly SinkEntry[] = []
  const { areFree, take, has, end } = turns(now)

  async function sendAll(): Promise<void> {
    const turn = take()
    waiting = [...inFlight, ...waiting]
    inFlight = []
    while (has(turn) && waiting.length > 0) {
      const entries = waiting.slice(0, MOST_A_SEND)
      waiting = waiting.slice(MOST_A_SEND)
      waitingBytes = waiting.reduce((sum, entry) => sum + sizeOf(entry), 0)
      inFlight = entries
      await send(entries)
      if (inFlight === entries) inFlight = []
    }
    end(turn)
  }

  async function send(entries: readonly SinkEntry[]): Promise<void> {
    try {
      await queue.send(entries.map((entry) => sinkMessage(sink.name, entry)))
      return
    } catch (error) {
      log.warn('sink.not_queued', { sink: sink.name, entries: entries.length, error: describeError(error) })
    }
    try {
      const { again = [], refused = 0, answer } = await attemptDelivery(sink, entries)
      counts.delivered(entries.length - again.length - refused)
      if (again.length + refused > 0) counts.dropped(again.length + refused, answer)
    } catch (error) {
      const { message } = error as SinkFailure
      counts.failed(entries.length, message)
      counts.dropped(entries.length, message)
    }
  }

  return {
    take(entry) {
      const bytes = sizeOf(entry)
      if (waiting.length >= CAPACITY.entries || waitingBytes + bytes > CAPACITY.bytes) {
        counts.dropped(1, 'more events than the queue takes')
        return
      }
      waiting.push(entry)
      waitingBytes += bytes
      if (areFree()) defer(sendAll())
    },
    hasRoom: () => waiting.length < CAPACITY.entries,
    depth: () => waiting.length + inFlight.length,
    drain: async () => 0,
  }
}
