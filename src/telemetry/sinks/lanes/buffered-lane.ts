import { atMost } from '../../../lib/timers/at-most.ts'
import { pauses } from '../../../lib/timers/pauses.ts'
import type { Sink, SinkEntry, SinkFailure, SinkLane } from '../sink.ts'
import { attemptDelivery, wishedMs } from './attempt.ts'
import { laneEntries } from './lane-entries.ts'
import type { Tally } from './tally.ts'
import { unpacked, type WaitingEntry } from './waiting-entry.ts'

export interface BufferedLaneOptions {
  readonly random?: () => number
  /** The most that waits in memory. */
  readonly capacity?: { readonly entries: number; readonly bytes: number }
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
}

const CAPACITY = { entries: 10_000, bytes: 16 * 1024 * 1024 }
/** The size of a batch that probes whether the far end is back. */
const PROBE = 32
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/** Gathers entries in memory and sends them in batches, one at a time, for a runtime whose process outlives its
 *  requests. While the far end takes nothing, entries wait up to a bound; beyond it new ones are dropped until the far
 *  end takes some. */
export function bufferedLane(sink: Sink, counts: Tally, options: BufferedLaneOptions = {}): SinkLane {
  const { random = Math.random, capacity = CAPACITY } = options
  const { firstPauseMs = FIRST_PAUSE_MS, longestPauseMs = LONGEST_PAUSE_MS } = options
  const { gathering } = sink
  const entries = laneEntries(gathering, capacity, () => {
    if (!sending) schedule()
  })
  const { pause, end: endPause } = pauses()
  /** The most entries that the far end seems to take at once. */
  let most = gathering.entries
  let failures = 0
  /** The last attempt delivered nothing. */
  let isAway = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined
  /** Set while the process stops: when the last attempt has to end, in terms of `performance.now()`. */
  let endsAt: number | undefined
  let stopped = false

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    sending ??= send().finally(() => {
      sending = undefined
      if (entries.waiting() > 0 && endsAt === undefined) schedule()
    })
  }

  function schedule(): void {
    if (entries.fillBatch()) start()
    else timer ??= setTimeout(start, gathering.ms)
  }

  /** Sends one batch, and more while batches are full, after failures, and while the process stops. */
  async function send(): Promise<void> {
    while (entries.waiting() > 0) {
      const nextPauseMs = await sendBatch()
      if (stopped) return
      if (nextPauseMs === 0) continue
      if (nextPauseMs === undefined) {
        if (!entries.fillBatch() && endsAt === undefined) return
        continue
      }
      // A process that stops does not wait for a far end that fails.
      if (endsAt !== undefined) return
      await pause(nextPauseMs)
    }
  }

  /** Sends the next batch once. Returns the pause before the next attempt: undefined after a success. A batch that is
   *  too large, or of which the far end refuses something, is halved until the entry in question is alone, which is
   *  dropped. */
  async function sendBatch(): Promise<number | undefined> {
    const batch = entries.first(isAway && !sink.resendsWhole ? Math.min(most, PROBE) : most)
    const sent = batch.map(unpacked)
    const limitMs = endsAt === undefined ? undefined : Math.max(0, endsAt - performance.now())
    try {
      const { answer, again = [], refused = 0, retryAfterSeconds } = await attemptDelivery(sink, sent, limitMs)
      if (stopped) return undefined
      if (again.length === sent.length) return nothingTaken(batch, answer, retryAfterSeconds)
      const taken = sent.length - again.length - refused
      if (taken > 0) counts.delivered(taken)
      if (refused > 0) counts.dropped(refused, answer)
      entries.release(batch)
      isAway = false
      failures = 0
      if (again.length > 0) {
        const left = new Set(again)
        const kept = batch.filter((_, index) => left.has(sent[index] as SinkEntry))
        return retried(kept, answer, retryAfterSeconds)
      }
      most = Math.min(gathering.entries, most + Math.ceil(most / 8))
      return undefined
    } catch (error) {
      if (stopped) return undefined
      const { kind, message, retryAfterSeconds } = error as SinkFailure
      if (kind === 'away') return nothingTaken(batch, message, retryAfterSeconds)
      counts.failed(sent.length, message)
      isAway = false
      failures = 0
      most = Math.max(1, Math.floor(sent.length / 2))
      if (sent.length > 1) return 0
      entries.release(batch)
      counts.dropped(1, message)
      return 0
    }
  }

  /** The far end takes nothing: all that wait have to. It may be there, and only not take what it did not take
   *  before. */
  function nothingTaken(batch: readonly WaitingEntry[], answer: string, retryAfterSeconds?: number) {
    if (batch.every(entries.knows)) {
      entries.release(batch)
      return retried(batch, answer, retryAfterSeconds)
    }
    counts.failed(batch.length, answer)
    isAway = true
    return pauseMs(failures++, retryAfterSeconds)
  }

  /** Sets aside what was not taken; the others wait only if the far end asks for that. */
  function retried(some: readonly WaitingEntry[], answer: string, retryAfterSeconds?: number): number | undefined {
    counts.failed(some.length, answer)
    entries.setAside(some, (failed) => pauseMs(failed, retryAfterSeconds))
    return wishedMs(retryAfterSeconds) || undefined
  }

  function pauseMs(failed: number, retryAfterSeconds: number | undefined): number {
    const own = Math.min(firstPauseMs * 2 ** failed, longestPauseMs)
    return Math.max(wishedMs(retryAfterSeconds), own * (0.5 + random() / 2))
  }

  return {
    take(entry) {
      if (stopped) return counts.dropped(1, 'the process stops')
      if (!entries.add(entry)) return counts.dropped(1, 'more events than the far end takes')
      if (!sending) schedule()
    },
    hasRoom: entries.hasRoom,
    depth: entries.count,
    async drain(limitMs) {
      endsAt = performance.now() + limitMs
      endPause()
      entries.takeBack()
      if (entries.waiting() > 0) start()
      if (sending) await atMost(limitMs, sending)
      clearTimeout(timer)
      stopped = true
      const lost = entries.removeAll()
      if (lost > 0) counts.dropped(lost, 'the process stops')
      return lost
    },
  }
}
