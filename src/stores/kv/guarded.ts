import { type Breaker, createBreaker } from './breaker.ts'
import { type Deadline, type Heartbeat, strictly, within } from './deadline.ts'
import { type SharedStore, StoreUnavailable } from './shared-store.ts'

export interface Deadlines {
  /** How long a client waits for a store that was silent when it was last waited for. */
  readonly doubtMs: number
  /** How long a client waits for a store of which nothing bad is known: slow is not away, and whoever gives up counts for
   *  itself. Later answers say nothing good about the store. */
  readonly patienceMs: number
  /** How long a client waits for a store that goes on answering others. */
  readonly utmostMs: number
  /** For what no client waits for. */
  readonly unhurriedMs: number
}

export const DEADLINES: Deadlines = { doubtMs: 300, patienceMs: 1500, utmostMs: 4000, unhurriedMs: 2000 }

/** A store behind its deadlines and its breaker. */
export interface Guarded {
  readonly breaker: Breaker
  /** What went wrong last. */
  readonly trouble: StoreUnavailable
  /** Undefined: the store is away, or did not answer in time. Anything but `StoreUnavailable` is the caller's mistake and
   *  thrown. */
  ask<T>(waiting: 'client' | 'nobody', verb: (store: SharedStore) => Promise<T>): Promise<[T] | undefined>
  /** Asks past the breaker, and tells it nothing. Rejects where the store is away. */
  tryOut<T>(limitMs: number, verb: (store: SharedStore) => Promise<T>): Promise<T>
}

export function guarded(store: SharedStore, now: () => number, deadlines: Deadlines): Guarded {
  const { doubtMs, patienceMs, utmostMs, unhurriedMs } = deadlines
  const breaker = createBreaker(now)
  const heartbeat: Heartbeat = { heardAt: Number.NEGATIVE_INFINITY }
  const patient: Deadline = { limitMs: patienceMs, utmostMs, silenceMs: patienceMs }
  const doubtful: Deadline = { ...patient, limitMs: doubtMs }
  const unhurried = strictly(unhurriedMs)
  let trouble = new StoreUnavailable('unreachable')
  /** When somebody last gave up on a store that had said nothing to anybody meanwhile. */
  let silentAt = Number.NEGATIVE_INFINITY

  return {
    breaker,
    get trouble() {
      return trouble
    },
    async ask(waiting, verb) {
      const { stretch } = breaker
      const askedAt = performance.now()
      const deadline = waiting === 'nobody' ? unhurried : silentAt > heartbeat.heardAt ? doubtful : patient
      try {
        const answer = await within(deadline, verb(store), heartbeat)
        if (performance.now() - askedAt <= patienceMs) breaker.succeeded(stretch)
        return [answer]
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
        trouble = error
        const silent = heartbeat.heardAt < askedAt
        if (error.trouble === 'refused') breaker.failed(stretch, 'refused')
        else if (error.trouble !== 'timeout') breaker.failed(stretch, 'gone')
        else breaker.failed(stretch, silent ? 'silent' : 'late')
        if (error.trouble === 'timeout' && silent) silentAt = performance.now()
        return undefined
      }
    },
    async tryOut(limitMs, verb) {
      try {
        return await within(strictly(limitMs), verb(store), heartbeat)
      } catch (error) {
        if (error instanceof StoreUnavailable) trouble = error
        throw error
      }
    },
  }
}
