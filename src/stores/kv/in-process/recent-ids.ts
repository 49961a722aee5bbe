/** Ids of the last while. */
export interface RecentIds {
  /** Notes one that came now; false if it has come in the last while already. */
  add(id: string, now: number): boolean
}

/** Ids that came at about the same time, by how long after the first. */
interface Generation {
  readonly begunAt: number
  readonly ids: Map<string, number>
}

/** Forgets an id after `lifetimeMs`, or beyond half of `most` ids sooner. In two generations, of which the elder goes as a
 *  whole: an object for each id, and a sweep over them, would cost every call more than its settlement. */
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
