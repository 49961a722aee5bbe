import { atMost } from '../../lib/at-most.ts'
import type { Log } from '../../lib/log.ts'
import { expiringMap } from './in-process/expiring-map.ts'
import { type Change, type RecordVersion, StoreUnavailable } from './shared-store.ts'

/** How long whoever made a change waits for the shared store to know it. */
const WAIT_MS = 2000
/** An attempt that has no answer after this does not keep the next one waiting: a message may be lost without a word. */
const ATTEMPT_MS = 500
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000
/** A loop that has done nothing for so long has ended with the request whose it was. */
const STILL_MS = 15_000

/** Longer than anybody remembers a caller. */
const REMEMBER_MS = 4_000_000
const MOST_REMEMBERED = 10_000
const MOST_UNTOLD = 10_000
const MOST_AT_ONCE = 200

/** The changes that this process has made: it goes by them whatever becomes of the shared store, which is told of each
 *  until it has been told. */
export interface Changes {
  /** Tells the shared store; says whether it knows before anybody would wait longer. What it does not know by then is told
   *  beside everything else. */
  publish(change: Change): Promise<boolean>
  /** Which of these records this process has changed since. */
  since(versions: readonly RecordVersion[]): readonly string[]
  /** Goes on telling, where the runtime has ended who did. */
  resume(): void
  /** Tells everything that is left, once. False: there is something left. */
  tellAll(): Promise<boolean>
  /** Tells what is left for the last time. */
  close(): Promise<void>
}

export interface ChangesOptions {
  /** Rejects where the shared store did not take it in time. */
  readonly tell: (change: Change) => Promise<unknown>
  readonly now: () => number
  readonly log: Log
  readonly defer: (work: Promise<void>) => void
  /** How long the runtime lets work run that outlives its request. */
  readonly deferredMs?: number
}

interface Untold {
  readonly change: Change
  told: boolean
}

const NOTHING: readonly string[] = []

export function createChanges(options: ChangesOptions): Changes {
  const { tell, now, log, defer, deferredMs = Number.POSITIVE_INFINITY } = options
  const versions = expiringMap<number>(now, MOST_REMEMBERED)
  const untold = new Set<Untold>()
  let activeAt = Number.NEGATIVE_INFINITY
  let closed = false

  function remember({ records }: Change): void {
    for (const { record, version } of records) {
      if (version > (versions.get(record) ?? 0)) versions.set(record, version, now() + REMEMBER_MS)
    }
  }

  function owe(change: Change): Untold {
    const one = { change, told: false }
    untold.add(one)
    // The oldest is left to those who look into the database.
    if (untold.size > MOST_UNTOLD) untold.delete(untold.values().next().value as Untold)
    return one
  }

  /** Everything that is left, in one message unless it is very much. */
  async function tellAll(): Promise<boolean> {
    while (untold.size > 0) {
      const some = [...untold].slice(0, MOST_AT_ONCE)
      try {
        await tell({
          records: some.flatMap(({ change }) => change.records),
          removed: some.flatMap(({ change }) => change.removed),
        })
      } catch (error) {
        if (error instanceof StoreUnavailable) return false
        throw error
      }
      for (const one of some) {
        one.told = true
        untold.delete(one)
      }
    }
    return true
  }

  async function publish(change: Change): Promise<boolean> {
    remember(change)
    const own = owe(change)
    const until = performance.now() + WAIT_MS
    const left = () => until - performance.now()
    for (let pauseMs = FIRST_PAUSE_MS; left() > 0; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const ended = await atMost(Math.min(ATTEMPT_MS, left()), tellAll())
      if (own.told) return true
      if (ended) await sleep(Math.max(0, Math.min(pauseMs, left())))
    }
    log.warn('change.pending', { untold: untold.size })
    resume()
    return own.told
  }

  function resume(): void {
    if (untold.size === 0 || closed || performance.now() - activeAt < STILL_MS) return
    activeAt = performance.now()
    defer(tellOn())
  }

  async function tellOn(): Promise<void> {
    const until = performance.now() + deferredMs
    for (let pauseMs = FIRST_PAUSE_MS; !closed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      activeAt = performance.now()
      if (await tellAll()) break
      if (performance.now() + pauseMs > until) break
      await sleep(pauseMs)
    }
    activeAt = Number.NEGATIVE_INFINITY
    if (untold.size === 0) log.info('change.told')
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
    tellAll,
    async close() {
      closed = true
      if (untold.size > 0) await atMost(WAIT_MS, tellAll())
    },
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
