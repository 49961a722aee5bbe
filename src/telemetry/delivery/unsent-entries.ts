import type { Folding, RecordFold, Topic } from './delivery.ts'
import type { Outcomes } from './outcomes.ts'

/** An entry that waits in an isolate, and since when. */
export interface Waiting {
  readonly topic: Topic
  readonly entry: object
  readonly since: number
}

/** Entries without an attempt to send them, so many at most: beyond that, entries are added up, or dropped if they cannot
 *  be and no other makes way. */
export interface UnsentEntries {
  count(): number
  ofTopic(name: string): number
  add(one: Waiting): void
  /** Removes the oldest. */
  take(limit: number): readonly Waiting[]
  /** Adds the sums to the entries that are taken next. */
  endFolds(): void
}

export function unsentEntries(capacity: number, outcomes: Outcomes<readonly Waiting[]>): UnsentEntries {
  const entries: Waiting[] = []
  const folds = new Map<Folding, RecordFold>()

  function addUp(folding: Folding, one: Waiting): void {
    const fold = folds.get(folding) ?? folding.begin()
    folds.set(folding, fold)
    fold.add(one.entry)
    outcomes.moved('records.folded', [one])
  }

  function overflow(one: Waiting): void {
    const displaced = one.topic.folding ? one : makeWay(one)
    if (displaced?.topic.folding) addUp(displaced.topic.folding, displaced)
    else outcomes.moved('records.dropped', [one])
  }

  /** Takes an entry in the place of one that can be added up, which it returns if there is one. */
  function makeWay(one: Waiting): Waiting | undefined {
    const at = entries.findIndex(({ topic }) => topic.folding)
    if (at === -1) return undefined
    const [displaced] = entries.splice(at, 1)
    entries.push(one)
    return displaced
  }

  return {
    count: () => entries.length,
    ofTopic: (name) => entries.filter(({ topic }) => topic.name === name).length,
    add(one) {
      if (entries.length >= capacity) overflow(one)
      else entries.push(one)
    },
    take: (limit) => entries.splice(0, limit),
    endFolds() {
      const since = Date.now()
      for (const [{ topic }, fold] of folds) entries.push(...fold.end().map((entry) => ({ topic, entry, since })))
      folds.clear()
    },
  }
}
