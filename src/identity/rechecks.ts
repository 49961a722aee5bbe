import { elapsedMs } from '../lib/clock.ts'

/** An entry of a cache that is compared with the database from time to time. */
interface Checked {
  /** When the database was last asked for changes of it. */
  checkedAt: number
}

/** How often an entry in use is rechecked, so that a change which the shared store missed or lost applies within a minute. */
const EVERY_MS = 20_000
/** The same while the shared store is away and compares no versions. */
const EVERY_WHILE_DEGRADED_MS = 5000
/** The shortest pause between two checks of an entry, for a database that is away. */
const SOONEST_MS = 1000

const MOST_AT_ONCE = 16
/** A check that takes longer was killed by the runtime, together with its request. */
const KILLED_AFTER_MS = 5000

/** Rechecks cache entries beside the calls that use them, a few at a time. */
export interface Rechecks<Entry extends Checked> {
  /** Rechecks an entry whose last check is old enough. */
  whenDue(entry: Entry, degraded: boolean): void
  /** Rechecks an entry after the shortest pause. */
  soon(entry: Entry): void
}

export function rechecks<Entry extends Checked>(options: {
  /** Never rejects. */
  readonly recheck: (entry: Entry) => Promise<void>
  readonly now: () => number
  /** Keeps the runtime alive for work that no request waits for. */
  readonly defer: (work: Promise<void>) => void
}): Rechecks<Entry> {
  const { recheck, now, defer } = options
  const running = new Set<{ readonly since: number }>()

  function after(pauseMs: number, entry: Entry): void {
    const time = now()
    if (elapsedMs(entry.checkedAt, time) < pauseMs) return
    if (running.size >= MOST_AT_ONCE) {
      for (const one of running) if (time - one.since > KILLED_AFTER_MS) running.delete(one)
      if (running.size >= MOST_AT_ONCE) return
    }
    entry.checkedAt = time
    const own = { since: time }
    running.add(own)
    defer(recheck(entry).finally(() => running.delete(own)))
  }

  return {
    whenDue: (entry, degraded) => after(degraded ? EVERY_WHILE_DEGRADED_MS : EVERY_MS, entry),
    soon: (entry) => after(SOONEST_MS, entry),
  }
}
