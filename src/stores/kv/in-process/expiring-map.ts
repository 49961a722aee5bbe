/** A value and its end, which whoever finds the entry may change. */
export interface Entry<Value> {
  value: Value
  /** In the past once it was removed. */
  expiresAt: number
}

/** A map whose entries expire. An expired entry is never returned; each new entry removes a few expired ones, so there is no
 *  timer. Beyond `capacity` the oldest entry is evicted. */
export interface ExpiringMap<Value> {
  get(key: string): Value | undefined
  /** The entry of a key. `last` is what this answered the last time, and saves looking for it if it is still there. */
  entry(key: string, last?: Entry<Value>): Entry<Value> | undefined
  set(key: string, value: Value, expiresAt: number): void
  /** Sets a value and answers its entry. */
  put(key: string, value: Value, expiresAt: number): Entry<Value>
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

  function remove(key: string): void {
    const entry = entries.get(key)
    if (!entry) return
    entry.expiresAt = Number.NEGATIVE_INFINITY
    entries.delete(key)
  }

  function sweepSome(at: number): void {
    for (let step = 0; step < SWEPT_PER_ENTRY; step++) {
      const next = sweep.next()
      if (next.done) {
        sweep = entries.entries()
        return
      }
      if (next.value[1].expiresAt <= at) remove(next.value[0])
    }
  }

  function evict(): void {
    madeSinceEviction = 0
    let next = oldest?.next()
    if (!next || next.done) {
      oldest = entries.keys()
      next = oldest.next()
    }
    if (!next.done) remove(next.value)
  }

  function put(key: string, value: Value, expiresAt: number): Entry<Value> {
    const entry = entries.get(key)
    if (entry) {
      entry.value = value
      entry.expiresAt = expiresAt
      return entry
    }
    // Only what is new makes the map grow.
    sweepSome(now())
    const made = { value, expiresAt }
    entries.set(key, made)
    madeSinceEviction += 1
    if (entries.size > capacity) evict()
    else if (madeSinceEviction > entries.size) oldest = undefined
    return made
  }

  return {
    get(key) {
      const entry = entries.get(key)
      return entry && entry.expiresAt > now() ? entry.value : undefined
    },
    entry(key, last) {
      const at = now()
      if (last && last.expiresAt > at) return last
      const entry = entries.get(key)
      return entry && entry.expiresAt > at ? entry : undefined
    },
    set: (key, value, expiresAt) => void put(key, value, expiresAt),
    put,
    delete: remove,
    get size() {
      return entries.size
    },
  }
}
