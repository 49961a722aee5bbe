import type { Log } from '../../../lib/log.ts'
import { atMost } from '../../../lib/timers/at-most.ts'
import { expiringMap } from '../in-process/expiring-map.ts'
import type { Change, RecordVersion } from '../shared-store.ts'
import { StoreUnavailable } from '../store-unavailable.ts'

/** How long `publish` waits for the shared store. */
const WAIT_MS = 2000
/** The next attempt begins after this time, because a message may be lost without an error. */
const ATTEMPT_MS = 500
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000
/** A retry loop that was idle for this long was killed by the runtime, together with its request. */
const KILLED_AFTER_MS = 15_000

/** Longer than any cache keeps a caller. */
const KEPT_MS = 4_000_000
const MOST_KEPT = 10_000
const MOST_PENDING = 10_000
const MOST_AT_ONCE = 200

/** The changes that this process made. They apply in this process at once, whatever the state of the shared store, and
 *  each is sent to the store until the store has it. */
export interface Changes {
  /** Sends a change to the shared store; resolves with whether the store has it in time. A pending change is retried in the
   *  background. */
  publish(change: Change): Promise<boolean>
  /** The records that this process has changed since these versions. */
  since(versions: readonly RecordVersion[]): readonly string[]
  /** Restarts the retry loop if the runtime has killed it. */
  resume(): void
  /** Sends all pending changes once; resolves with false if some are left. */
  flush(): Promise<boolean>
  /** Sends the pending changes for the last time. */
  close(): Promise<void>
}

export interface ChangesOptions {
  /** Sends a change to the shared store. Rejects if the store did not take it in time. */
  readonly send: (change: Change) => Promise<unknown>
  readonly now: () => number
  readonly log: Log
  readonly defer: (work: Promise<void>) => void
  /** How long the runtime lets work run that outlives its request. */
  readonly deferredMs?: number
}

interface Pending {
  readonly change: Change
  sent: boolean
}

const NOTHING: readonly string[] = []

export function createChanges(options: ChangesOptions): Changes {
  const { send, now, log, defer, deferredMs = Number.POSITIVE_INFINITY } = options
  const versions = expiringMap<number>(now, MOST_KEPT)
  const pending = new Set<Pending>()
  let activeAt = Number.NEGATIVE_INFINITY
  let closed = false

  function remember({ records }: Change): void {
    for (const { record, version } of records) {
      if (version > (versions.get(record) ?? 0)) versions.set(record, version, now() + KEPT_MS)
    }
  }

  function addPending(change: Change): Pending {
    const one = { change, sent: false }
    pending.add(one)
    // Other processes find the dropped change when they recheck the database.
    if (pending.size > MOST_PENDING) pending.delete(pending.values().next().value as Pending)
    return one
  }

  async function flush(): Promise<boolean> {
    while (pending.size > 0) {
      const some = [...pending].slice(0, MOST_AT_ONCE)
      try {
        await send({
          records: some.flatMap(({ change }) => change.records),
          removed: some.flatMap(({ change }) => change.removed),
        })
      } catch (error) {
        if (error instanceof StoreUnavailable) return false
        throw error
      }
      for (const one of some) {
        one.sent = true
        pending.delete(one)
      }
    }
    return true
  }

  async function publish(change: Change): Promise<boolean> {
    remember(change)
    const own = addPending(change)
    const until = performance.now() + WAIT_MS
    const left = () => until - performance.now()
    for (let pauseMs = FIRST_PAUSE_MS; left() > 0; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const ended = await atMost(Math.min(ATTEMPT_MS, left()), flush())
      if (own.sent) return true
      if (ended) await sleep(Math.max(0, Math.min(pauseMs, left())))
    }
    log.warn('change.pending', { untold: pending.size })
    resume()
    return own.sent
  }

  function resume(): void {
    if (pending.size === 0 || closed || performance.now() - activeAt < KILLED_AFTER_MS) return
    activeAt = performance.now()
    defer(retry())
  }

  async function retry(): Promise<void> {
    const until = performance.now() + deferredMs
    for (let pauseMs = FIRST_PAUSE_MS; !closed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      activeAt = performance.now()
      if (await flush()) break
      if (performance.now() + pauseMs > until) break
      await sleep(pauseMs)
    }
    activeAt = Number.NEGATIVE_INFINITY
    if (pending.size === 0) log.info('change.told')
  }

  return {
    publish,
    since(held) {
      let changed = NOTHING
      if (versions.size === 0) return changed
      for (const { record, version } of held) {
        if ((versions.get(record) ?? 0) > version) changed = [...changed, record]
      }
      return changed
    },
    resume,
    flush,
    async close() {
      closed = true
      if (pending.size > 0) await atMost(WAIT_MS, flush())
    },
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
