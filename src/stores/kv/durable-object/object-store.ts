import { inProcessStore } from '../in-process.ts'
import type { Settlement, SharedStore } from '../shared-store.ts'
import { keptState } from './kept-state.ts'
import type { SqlStorage } from './rows.ts'

/** A request to the object: a method of the shared store by its name, or all settlements of a moment. */
export type Verb = Exclude<keyof SharedStore, 'mode' | 'ping' | 'close'> | 'settleAll'

/** The store inside a Durable Object. */
export interface ObjectStore {
  /** `at`: replaces the object's clock, for tests. */
  ask(verb: Verb, input: readonly unknown[], at?: number): unknown
  /** Writes what has not been written yet. */
  write(): void
  /** Removes what has expired, so much at once at most; true: there may be more. */
  sweep(): boolean
}

/** The delay after which counts are written: calls do not wait for the disk, and a killed object loses no more. */
const WRITE_MS = 500

/** The in-process store over the storage of a Durable Object, which all isolates share. `later` runs work after a
 *  number of milliseconds. */
export function objectStore(sql: SqlStorage, later: (work: () => void, ms: number) => void): ObjectStore {
  let clock: number | undefined
  let isDue = false
  let kept: ReturnType<typeof keptState> | undefined
  const noted = () => {
    if (isDue) return
    isDue = true
    later(write, WRITE_MS)
  }
  const store = inProcessStore({
    now: () => clock ?? Date.now(),
    state(now) {
      kept = keptState(sql, now, noted)
      return kept.state
    },
  })
  function write(): void {
    isDue = false
    kept?.write()
  }
  return {
    ask(verb, input, at) {
      clock = at
      if (verb === 'settleAll') return (input as Settlement[]).map((outcome) => store.settle(outcome))
      // biome-ignore lint/complexity/noBannedTypes: every verb is a method of the store.
      return (store[verb] as Function)(...input)
    },
    write,
    sweep: () => kept?.sweep() ?? false,
  }
}
