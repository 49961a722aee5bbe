import type { Timers } from '../../../lib/timers/timers.ts'
import { awaitWithin, type Deadline, type Heartbeat, type Means, strictly, within } from '../deadline.ts'
import type { SharedStore } from '../shared-store.ts'
import { StoreUnavailable } from '../store-unavailable.ts'
import { type Breaker, createBreaker } from './breaker.ts'

export interface Deadlines {
  /** For calls with a waiting client, if the store was silent during the last wait. */
  readonly doubtMs: number
  /** For calls with a waiting client, if the store answers normally. A later answer does not count as a success. */
  readonly patienceMs: number
  /** For calls with a waiting client, while the store keeps answering other calls. */
  readonly utmostMs: number
  /** For calls without a waiting client. */
  readonly unhurriedMs: number
}

export const DEADLINES: Deadlines = { doubtMs: 300, patienceMs: 1500, utmostMs: 4000, unhurriedMs: 2000 }

/** What becomes of a question. Neither function throws: what fails is a rejected promise. */
export interface Course<T> {
  /** What the store's answer is resolved to; the answer itself if absent. */
  answered?(answer: T): T | Promise<T>
  /** What is resolved with if the store is away or did not answer in time. */
  away(): T | Promise<T>
}

/** A store behind deadlines and a breaker. */
export interface Guarded {
  readonly breaker: Breaker
  /** The last failure. */
  readonly lastFailure: StoreUnavailable
  /** Asks the store. Rejects with any error that does not say that it is away. */
  ask<T>(waiting: 'client' | 'background', verb: (store: SharedStore) => T | Promise<T>, course: Course<T>): Promise<T>
  /** Asks the store whether or not the breaker is open, and does not report the outcome to it. Rejects if the store is
   *  away. */
  tryOut<T>(limitMs: number, verb: (store: SharedStore) => Promise<T>): Promise<T>
}

export interface GuardedOptions {
  readonly now: () => number
  readonly deadlines: Deadlines
  readonly timers: Timers
  /** Called when the store is away or did not answer in time. */
  readonly failed: () => void
}

export function guarded(store: SharedStore, { now, deadlines, timers, failed: told }: GuardedOptions): Guarded {
  const { doubtMs, patienceMs, utmostMs, unhurriedMs } = deadlines
  const breaker = createBreaker(now)
  const heartbeat: Heartbeat = { answeredAt: Number.NEGATIVE_INFINITY }
  const means: Means = { heartbeat, timers }
  const patient: Deadline = { limitMs: patienceMs, utmostMs, silenceMs: patienceMs }
  const doubtful: Deadline = { ...patient, limitMs: doubtMs }
  const unhurried = strictly(unhurriedMs)
  let lastFailure = new StoreUnavailable('unreachable')
  /** When a call last timed out while the store answered no call. */
  let silentAt = Number.NEGATIVE_INFINITY

  return {
    breaker,
    get lastFailure() {
      return lastFailure
    },
    ask(waiting, verb, { answered, away }) {
      const { period } = breaker
      const askedAt = performance.now()
      const deadline = waiting === 'background' ? unhurried : silentAt > heartbeat.answeredAt ? doubtful : patient
      // Every call asks twice: this is one promise, and not one for each step.
      return new Promise((resolve, reject) => {
        awaitWithin(deadline, Promise.resolve(verb(store)), means, {
          answered(answer, waitedMs) {
            if (waitedMs <= patienceMs) breaker.succeeded(period)
            resolve(answered ? answered(answer) : answer)
          },
          failed(error) {
            if (!(error instanceof StoreUnavailable)) return reject(error)
            lastFailure = error
            const silent = heartbeat.answeredAt < askedAt
            if (error.trouble === 'refused') breaker.failed(period, 'refused')
            else if (error.trouble !== 'timeout') breaker.failed(period, 'gone')
            else breaker.failed(period, silent ? 'silent' : 'late')
            if (error.trouble === 'timeout' && silent) silentAt = performance.now()
            told()
            resolve(away())
          },
        })
      })
    },
    async tryOut(limitMs, verb) {
      try {
        return await within(strictly(limitMs), verb(store), heartbeat)
      } catch (error) {
        if (error instanceof StoreUnavailable) lastFailure = error
        throw error
      }
    },
  }
}
