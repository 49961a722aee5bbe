import { atMost } from '../../../lib/timers/at-most.ts'
import type { Sink, SinkEntry, SinkFailure, SinkLane } from '../sink.ts'
import { attemptDelivery, wishedMs } from './attempt.ts'
import { setAside } from './set-aside.ts'
import { sizeOf } from './size-of.ts'
import type { Tally } from './tally.ts'
import { packed, unpacked, type WaitingEntry } from './waiting-entry.ts'

export interface BufferedLaneOptions {
  readonly random?: () => number
  /** The most that waits in memory. */
  readonly capacity?: { readonly entries: number; readonly bytes: number }
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
}

const CAPACITY = { entries: 10_000, bytes: 16 * 1024 * 1024 }
/** Entries beyond this number are packed: a far end that is so late may be away for long. */
const UNPACKED = 1000
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
  let waiting: WaitingEntry[] = []
  let waitingBytes = 0
  /** Something was dropped for lack of room, and nothing has left since. */
  let overflows = false
  /** The most entries that the far end seems to take at once. */
  let most = gathering.entries
  let failures = 0
  /** The last attempt delivered nothing. */
  let isAway = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined
  let wake: (() => void) | undefined
  /** Set while the process stops: when the last attempt has to end, in terms of `performance.now()`. */
  let endsAt: number | undefined
  let stopped = false
  const aside = setAside((some) => {
    waiting.push(...some)
    waitingBytes += bytesOf(some)
    if (!sending) schedule()
  })

  const depth = () => waiting.length + aside.entries()
  const isFull = () => waiting.length >= gathering.entries || waitingBytes >= gathering.bytes

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    sending ??= send().finally(() => {
      sending = undefined
      if (waiting.length > 0 && endsAt === undefined) schedule()
    })
  }

  function schedule(): void {
    if (isFull()) start()
    else timer ??= setTimeout(start, gathering.ms)
  }

  /** Sends one batch, and more while batches are full, after failures, and while the process stops. */
  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const nextPauseMs = await sendBatch()
      if (stopped) return
      if (nextPauseMs === 0) continue
      if (nextPauseMs === undefined) {
        if (!isFull() && endsAt === undefined) return
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
    const batch = nextBatch()
    const entries = batch.map(unpacked)
    const limitMs = endsAt === undefined ? undefined : Math.max(0, endsAt - performance.now())
    try {
      const { answer, again = [], refused = 0, retryAfterSeconds } = await attemptDelivery(sink, entries, limitMs)
      if (stopped) return undefined
      if (again.length === entries.length) return nothingTaken(batch, answer, retryAfterSeconds)
      const taken = entries.length - again.length - refused
      if (taken > 0) counts.delivered(taken)
      if (refused > 0) counts.dropped(refused, answer)
      release(batch)
      isAway = false
      failures = 0
      if (again.length > 0) {
        const left = new Set(again)
        const kept = batch.filter((_, index) => left.has(entries[index] as SinkEntry))
        return retried(kept, answer, retryAfterSeconds)
      }
      most = Math.min(gathering.entries, most + Math.ceil(most / 8))
      return undefined
    } catch (error) {
      if (stopped) return undefined
      const { kind, message, retryAfterSeconds } = error as SinkFailure
      if (kind === 'away') return nothingTaken(batch, message, retryAfterSeconds)
      counts.failed(entries.length, message)
      isAway = false
      failures = 0
      most = Math.max(1, Math.floor(entries.length / 2))
      if (entries.length > 1) return 0
      release(batch)
      counts.dropped(1, message)
      return 0
    }
  }

  /** The far end takes nothing: all that wait have to. It may be there, and only not take what it did not take
   *  before. */
  function nothingTaken(batch: readonly WaitingEntry[], answer: string, retryAfterSeconds?: number) {
    if (batch.every(aside.knows)) {
      release(batch)
      return retried(batch, answer, retryAfterSeconds)
    }
    counts.failed(batch.length, answer)
    isAway = true
    return pauseMs(failures++, retryAfterSeconds)
  }

  /** Sets aside what was not taken; the others wait only if the far end asks for that. */
  function retried(some: readonly WaitingEntry[], answer: string, retryAfterSeconds?: number): number | undefined {
    counts.failed(some.length, answer)
    aside.add(some, (failed) => pauseMs(failed, retryAfterSeconds))
    return wishedMs(retryAfterSeconds) || undefined
  }

  function pauseMs(failed: number, retryAfterSeconds: number | undefined): number {
    const own = Math.min(firstPauseMs * 2 ** failed, longestPauseMs)
    return Math.max(wishedMs(retryAfterSeconds), own * (0.5 + random() / 2))
  }

  /** The first entries, as many as fit into a batch: one at least. */
  function nextBatch(): WaitingEntry[] {
    let bytes = 0
    const batch: WaitingEntry[] = []
    const limit = isAway && !sink.resendsWhole ? Math.min(most, PROBE) : most
    for (const one of waiting) {
      bytes += one.bytes
      if (batch.length > 0 && (batch.length >= limit || bytes > gathering.bytes)) break
      batch.push(one)
    }
    return batch
  }

  /** Removes a batch, which is the first that wait. */
  function release(batch: readonly WaitingEntry[]): void {
    waiting = waiting.slice(batch.length)
    waitingBytes = bytesOf(waiting)
    overflows = false
  }

  async function pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const over = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(over)
        resolve()
      }
    })
    wake = undefined
  }

  return {
    take(entry) {
      if (stopped) return counts.dropped(1, 'the process stops')
      const bytes = overflows ? 0 : sizeOf(entry)
      if (overflows || depth() >= capacity.entries || waitingBytes + aside.bytes() + bytes > capacity.bytes) {
        // An entry that is too large for an empty lane does not make the lane full.
        overflows = depth() > 0
        return counts.dropped(1, 'more events than the far end takes')
      }
      waiting.push(waiting.length < UNPACKED ? { entry, bytes } : packed(entry, bytes))
      waitingBytes += bytes
      if (!sending) schedule()
    },
    hasRoom: () => !overflows,
    depth,
    async drain(limitMs) {
      endsAt = performance.now() + limitMs
      wake?.()
      waiting.push(...aside.removeAll())
      if (waiting.length > 0) start()
      if (sending) await atMost(limitMs, sending)
      clearTimeout(timer)
      stopped = true
      const lost = waiting.length + aside.removeAll().length
      if (lost > 0) counts.dropped(lost, 'the process stops')
      waiting = []
      waitingBytes = 0
      return lost
    },
  }
}

const bytesOf = (some: readonly WaitingEntry[]) => some.reduce((sum, { bytes }) => sum + bytes, 0)
