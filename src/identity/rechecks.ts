/** What is looked at again from time to time. */
interface Kept {
  /** When the database was last asked whether it is still so. */
  lookedAt: number
}

/** A caller in use is looked at so often beside its calls: what the shared store was never told, or has lost, holds all
 *  the same within a minute. */
const EVERY_MS = 20_000
/** While the shared store is away, nobody compares versions. */
const EVERY_WHILE_DEGRADED_MS = 5000
/** A database that is away is tried again no sooner. */
const SOONEST_MS = 1000

const MOST_AT_ONCE = 16
/** One that takes longer has ended with the request that it ran beside. */
const ENDED_MS = 5000

/** Looks at kept things again, beside the calls that use them, a few at a time. */
export interface Rechecks<Entry extends Kept> {
  /** Where its time has come. */
  whenDue(entry: Entry, degraded: boolean): void
  /** As soon as it makes sense. */
  soon(entry: Entry): void
}

export function rechecks<Entry extends Kept>(options: {
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
    if (time - entry.lookedAt < pauseMs) return
    if (running.size >= MOST_AT_ONCE) {
      for (const one of running) if (time - one.since > ENDED_MS) running.delete(one)
      if (running.size >= MOST_AT_ONCE) return
    }
    entry.lookedAt = time
    const own = { since: time }
    running.add(own)
    defer(recheck(entry).finally(() => running.delete(own)))
  }

  return {
    whenDue: (entry, degraded) => after(degraded ? EVERY_WHILE_DEGRADED_MS : EVERY_MS, entry),
    soon: (entry) => after(SOONEST_MS, entry),
  }
}
