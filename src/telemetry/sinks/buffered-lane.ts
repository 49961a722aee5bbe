import { atMost } from '../../lib/timers/at-most.ts'
import { attemptDelivery, wishedMs } from './attempt.ts'
import type { Sink, SinkEntry, SinkFailure, SinkLane } from './sink.ts'
import { sizeOf } from './size-of.ts'
import type { Tally } from './tally.ts'

export interface BufferedLaneOptions {
  readonly random?: () => number
  /** The most that waits in memory. */
  readonly capacity?: { readonly entries: number; readonly bytes: number }
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
}

const CAPACITY = { entries: 10_000, bytes: 16 * 1024 * 1024 }
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/** Gathers entries in memory and sends them in batches, one at a time, for a runtime whose process outlives its requests.
 *  While the far end takes nothing, entries wait up to a bound; beyond it new ones are dropped. */
export function bufferedLane(sink: Sink, counts: Tally, options: BufferedLaneOptions = {}): SinkLane {
  const { random = Math.random, capacity = CAPACITY } = options
  const { firstPauseMs = FIRST_PAUSE_MS, longestPauseMs = LONGEST_PAUSE_MS } = options
  const { gathering } = sink
  let waiting: { readonly entry: SinkEntry; readonly bytes: number }[] = []
  let waitingBytes = 0
  /** The most entries that the far end seems to take at once. */
  let most = gathering.entries
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined
  let wake: (() => void) | undefined
  /** Set while the process stops: when the last attempt has to end, in terms of `performance.now()`. */
  let endsAt: number | undefined
  let stopped = false

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
      const pauseMs = await sendBatch()
      if (stopped) return
      if (pauseMs === 0) continue
      if (pauseMs === undefined) {
        if (!isFull() && endsAt === undefined) return
        continue
      }
      // A process that stops does not wait for a far end that fails.
      if (endsAt !== undefined) return
      await pause(pauseMs)
    }
  }

  /** Sends the next batch once. Returns the pause before the next attempt: undefined after a success. A batch that is too
   *  large, or of which the far end refuses something, is halved until the entry in question is alone, which is
   *  dropped. */
  async function sendBatch(): Promise<number | undefined> {
    const entries = nextBatch()
    const limitMs = endsAt === undefined ? undefined : Math.max(0, endsAt - performance.now())
    try {
      const { answer, again = [], refused = 0, retryAfterSeconds } = await attemptDelivery(sink, entries, limitMs)
      if (stopped) return undefined
      release(entries.length, again)
      const taken = entries.length - again.length - refused
      if (taken > 0) counts.delivered(taken)
      if (refused > 0) counts.dropped(refused, answer)
      if (again.length > 0) return failed(again.length, answer, retryAfterSeconds)
      most = Math.min(gathering.entries, most + Math.ceil(most / 8))
      failures = 0
      return undefined
    } catch (error) {
      if (stopped) return undefined
      const { kind, message, retryAfterSeconds } = error as SinkFailure
      const pauseMs = failed(entries.length, message, retryAfterSeconds)
      if (kind === 'away') return pauseMs
      failures = 0
      most = Math.max(1, Math.floor(entries.length / 2))
      if (entries.length > 1) return 0
      release(1)
      counts.dropped(1, message)
      return 0
    }
  }

  /** Counts a failure; returns the pause before the next attempt. */
  function failed(entries: number, message: string, retryAfterSeconds: number | undefined): number {
    counts.failed(entries, message)
    const own = Math.min(firstPauseMs * 2 ** failures++, longestPauseMs)
    return Math.max(wishedMs(retryAfterSeconds), own * (0.5 + random() / 2))
  }

  /** The first entries, as many as fit into a batch: one at least. */
  function nextBatch(): SinkEntry[] {
    let bytes = 0
    const batch: SinkEntry[] = []
    for (const one of waiting) {
      bytes += one.bytes
      if (batch.length > 0 && (batch.length >= most || bytes > gathering.bytes)) break
      batch.push(one.entry)
    }
    return batch
  }

  /** Removes the first entries, except those that have to be sent again. */
  function release(count: number, again: readonly SinkEntry[] = []): void {
    const kept = new Set(again)
    waiting = waiting.filter(({ entry }, index) => index >= count || kept.has(entry))
    waitingBytes = waiting.reduce((sum, { bytes }) => sum + bytes, 0)
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
      const bytes = sizeOf(entry)
      if (stopped || waiting.length >= capacity.entries || waitingBytes + bytes > capacity.bytes) {
        counts.dropped(1, stopped ? 'the process stops' : 'more events than the far end takes')
        return
      }
      waiting.push({ entry, bytes })
      waitingBytes += bytes
      if (!sending) schedule()
    },
    depth: () => waiting.length,
    async drain(limitMs) {
      endsAt = performance.now() + limitMs
      wake?.()
      if (waiting.length > 0) start()
      if (sending) await atMost(limitMs, sending)
      clearTimeout(timer)
      stopped = true
      const lost = waiting.length
      if (lost > 0) counts.dropped(lost, 'the process stops')
      release(lost)
      return lost
    },
  }
}
