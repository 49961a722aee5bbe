interface Entry<Value> {
  value: Value
  expiresAt: number
}

/** A map whose entries expire. An expired entry is never returned; each new entry removes a few expired ones, so there is no
 *  timer. Beyond `capacity` the oldest entry is evicted. */
export interface ExpiringMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value, expiresAt: number): void
  delete(key: string): void
  /** The number of entries, including expired ones that are not removed yet. */
  readonly size: number
}

const SWEPT_PER_ENTRY = 2

export function expiringMap<Value>(now: () => number, capacity = Number.POSITIVE_INFINITY): ExpiringMap<Value> {
  const entries = new Map<string, Entry<Value>>()
  let sweep = entries.entries()
  // The iterator is kept between evictions: a new one would skip all entries deleted since the map last grew. It is dropped
  // when it stops moving, because it references the map's former tables and their entries.
  let oldest: MapIterator<string> | undefined
  let madeSinceEviction = 0

  function sweepSome(at: number): void {
    for (let step = 0; step < SWEPT_PER_ENTRY; step++) {
      const next = sweep.next()
      if (next.done) {
        sweep = entries.entries()
        return
      }
      if (next.value[1].expiresAt <= at) entries.delete(next.value[0])
    }
  }

  function evict(): void {
    madeSinceEviction = 0
    let next = oldest?.next()
    if (!next || next.done) {
      oldest = entries.keys()
      next = oldest.next()
    }
    if (!next.done) entries.delete(next.value)
  }

  return {
    get(key) {
      const entry = entries.get(key)
      return entry && entry.expiresAt > now() ? entry.value : undefined
    },
    set(key, value, expiresAt) {
      const entry = entries.get(key)
      if (entry) {
        entry.value = value
        entry.expiresAt = expiresAt
        return
      }
      // Only what is new makes the map grow.
      sweepSome(now())
      entries.set(key, { value, expiresAt })
      madeSinceEviction += 1
      if (entries.size > capacity) evict()
      else if (madeSinceEviction > entries.size) oldest = undefined
    },
    delete(key) {
      entries.delete(key)
    },
    get size() {
      return entries.size
    },
  }
}
