import type { Abort } from '../../lib/abort.ts'
import type { Timers } from '../../lib/timers/timers.ts'
import { askedAt, clearedAt, readLead } from '../../stores/kv/answer-cache.ts'
import type { Key } from '../../stores/kv/keys.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import { departure } from '../client.ts'
import { readAnswer } from './answer-text.ts'
import type { CachedAnswer, CacheUse } from './cache-use.ts'

/** How the wait for another call's answers ends: with the answers; `free`: that call has ended without any, so this one
 *  may look again and lead; `late`: it has waited long enough. */
type Awaited = readonly CachedAnswer[] | 'free' | 'late'

/** Calls of this process that wait for identical calls, of this one or of another process. */
export interface Flights {
  /** A call of this process leads. */
  led(lead: Key): void
  /** It has ended: with its answers; with none, so that the next one may lead; or it left none to wait for. */
  ended(lead: Key, outcome: readonly CachedAnswer[] | 'failed' | 'unkept'): void
  /** Waits for the answers of the call that leads, at most `waitMs`. Rejects when the client leaves. */
  follow(use: CacheUse, signal: Abort, waitMs: number): Promise<Awaited>
}

interface Flight {
  /** The calls of this process that lead: one, but for a moment. */
  leaders: number
  readonly waiting: Set<(awaited: Awaited) => void>
  lookedAt: number
}

/** The first look at the store; each later one waits longer, up to the longest. */
const FIRST_LOOK_MS = 20
const LONGER = 1.5
const LONGEST_LOOK_MS = 500
/** Looks while the leader is of this process, which says itself when it ends. They are only for one that was killed. */
const OWN_LOOK_MS = 2000

export function flights(store: SharedStore, timers: Timers): Flights {
  const known = new Map<Key, Flight>()

  function flightOf(lead: Key): Flight {
    let flight = known.get(lead)
    if (!flight) {
      flight = { leaders: 0, waiting: new Set(), lookedAt: 0 }
      known.set(lead, flight)
    }
    return flight
  }

  function forget(lead: Key, flight: Flight): void {
    if (flight.leaders === 0 && flight.waiting.size === 0) known.delete(lead)
  }

  function wake({ waiting }: Flight, awaited: Awaited): void {
    for (const resolve of [...waiting]) resolve(awaited)
  }

  /** Lets one look again: it leads then, and the others go on waiting for it. */
  function wakeNext(flight: Flight): void {
    const [next] = flight.waiting
    flight.lookedAt = performance.now()
    next?.('free')
  }

  /** Looks at the store for all that wait here. */
  async function look(flight: Flight, { answers, clearings, lead }: CacheUse): Promise<void> {
    const texts = await store.getAll([...answers, ...clearings, lead]).catch(() => [null])
    // The store is away.
    if (texts.includes(null)) return wake(flight, 'late')
    const found = texts.slice(0, answers.length)
    const cleared = clearedAt(texts.slice(answers.length, -1))
    if (found.every((text) => text && (askedAt(text) ?? 0) > cleared)) {
      const read = await Promise.all(found.map((text) => readAnswer(text as string)))
      return wake(flight, read.every((one) => one !== undefined) ? (read as CachedAnswer[]) : 'late')
    }
    const mark = readLead(texts.at(-1) ?? undefined)
    if (!mark) wakeNext(flight)
    else if (mark.callId === '') wake(flight, 'free')
  }

  return {
    led(lead) {
      flightOf(lead).leaders += 1
    },
    ended(lead, outcome) {
      const flight = known.get(lead)
      if (!flight) return
      flight.leaders = Math.max(0, flight.leaders - 1)
      if (outcome === 'failed') wakeNext(flight)
      else wake(flight, outcome === 'unkept' ? 'free' : outcome)
      forget(lead, flight)
    },
    async follow(use, signal, waitMs) {
      const flight = flightOf(use.lead)
      const until = performance.now() + waitMs
      // A promise of its own, because a call on Workers cannot await that of another one.
      const { promise, resolve } = Promise.withResolvers<Awaited | 'left'>()
      const woken = (awaited: Awaited) => {
        flight.waiting.delete(woken)
        resolve(awaited)
      }
      const left = () => resolve('left')
      let everyMs = FIRST_LOOK_MS
      const arm = () => {
        const laterMs = flight.leaders > 0 ? OWN_LOOK_MS : everyMs
        return timers.after(Math.min(laterMs, until - performance.now()), tick)
      }
      const tick = () => {
        const now = performance.now()
        if (now >= until) return resolve('late')
        // One looks for all.
        if (now - flight.lookedAt >= everyMs / 2) {
          flight.lookedAt = now
          void look(flight, use)
          everyMs = Math.min(everyMs * LONGER, LONGEST_LOOK_MS)
        }
        timer = arm()
      }
      flight.waiting.add(woken)
      signal.addEventListener('abort', left, { once: true })
      let timer = arm()
      try {
        const awaited = signal.aborted ? 'left' : await promise
        if (awaited === 'left') throw departure(signal)
        return awaited
      } finally {
        timers.stop(timer)
        signal.removeEventListener('abort', left)
        flight.waiting.delete(woken)
        forget(use.lead, flight)
      }
    },
  }
}
