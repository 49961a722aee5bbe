/** A set of ids that forgets them after some time. */
export interface RecentIds {
  /** Adds an id; false if it is in the set already. */
  add(id: string, now: number): boolean
}

/** Ids of one period, with the time of each after its beginning. */
interface Generation {
  readonly begunAt: number
  readonly ids: Map<string, number>
}

/** Forgets an id after `lifetimeMs`, or sooner once `most / 2` newer ones were added. Ids are kept in two generations, of
 *  which the older is dropped as a whole: an object for each id and a sweep would cost a call more than its settlement. */
export function recentIds(most: number, lifetimeMs: number): RecentIds {
  let young: Generation = { begunAt: 0, ids: new Map() }
  let old = young

  const knows = ({ begunAt, ids }: Generation, id: string, now: number): boolean => {
    const after = ids.get(id)
    return after !== undefined && begunAt + after + lifetimeMs > now
  }

  return {
    add(id, now) {
      if (knows(young, id, now) || knows(old, id, now)) return false
      if (young.ids.size === 0 || young.ids.size >= most / 2 || now - young.begunAt >= lifetimeMs) {
        old = young
        young = { begunAt: now, ids: new Map() }
      }
      young.ids.set(id, now - young.begunAt)
      return true
    },
  }
}
