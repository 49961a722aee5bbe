import { newId } from '../lib/ids.ts'
import { type RefusalCount, type RefusalCounts, writeRefusals } from '../stores/sql/spend/refusal-records.ts'
import { keepable } from '../stores/sql/storable-text.ts'
import type { Delivery, Topic } from './delivery/delivery.ts'
import type { RequestFinished } from './events.ts'

/** Counts of refused model calls, which replace earlier ones of the same counter. */
export const refusals: Topic<RefusalCounts> = { name: 'refusals', write: writeRefusals }

/** Counts the model calls of known callers that were refused before they began, and hands the counts on. */
export interface RefusalCounter {
  count(event: RequestFinished): void
  /** Delivers records, and the counts with them when it is drained. */
  readonly delivery: Delivery
}

/** How long counts wait in memory, and how long at most until earlier ones are written. */
const FLUSH_MS = 500
const FLUSH_AWAY_MS = 10_000
/** A flush that has not ended after this time was killed with its request. */
const LOST_MS = 5000
const MINUTE_MS = 60_000
/** The most kinds in a minute. Further ones are counted without their caller. */
const MOST_KINDS = 200
/** Few enough for a message of a queue. */
const COUNTS_AN_ENTRY = 100
const LONGEST_TEXT = 128

interface Counted {
  readonly count: Omit<RefusalCount, 'calls'>
  calls: number
  /** What was handed on. */
  told: number
}

/** `defer` keeps the runtime alive for what outlives the answer. */
export function refusalCounter(
  delivery: Delivery,
  now: () => number,
  defer?: (work: Promise<void>) => void,
): RefusalCounter {
  const counter = newId('counter')
  const counted = new Map<string, Counted>()
  let minute = 0
  let kinds = 0
  let flushAt = Number.NEGATIVE_INFINITY
  let flushedAt = Number.NEGATIVE_INFINITY

  function add(count: Omit<RefusalCount, 'calls'>): void {
    const key = Object.values(count).join('\0')
    const known = counted.get(key)
    if (known) known.calls += 1
    else if (kinds < MOST_KINDS || count.key_id === '') {
      kinds += 1
      counted.set(key, { count, calls: 1, told: 0 })
    } else add({ ...count, key_id: '', team_id: '', organization_id: '', user_id: '' })
  }

  function flush(): void {
    flushAt = Number.NEGATIVE_INFINITY
    flushedAt = now()
    const fresh: RefusalCount[] = []
    for (const [key, one] of counted) {
      if (one.calls > one.told) fresh.push({ ...one.count, calls: one.calls })
      one.told = one.calls
      if (Date.parse(one.count.minute) < minute) counted.delete(key)
    }
    for (let at = 0; at < fresh.length; at += COUNTS_AN_ENTRY) {
      delivery.deliver(refusals, { counter, counts: fresh.slice(at, at + COUNTS_AN_ENTRY) })
    }
  }

  function schedule(): void {
    if (now() < flushAt + LOST_MS) return
    const { promise, resolve } = Promise.withResolvers<void>()
    wait(resolve)
    defer?.(promise)
  }

  function wait(flushed: () => void): void {
    flushAt = now() + FLUSH_MS
    setTimeout(() => {
      const isAway = delivery.depth(refusals.name) > 0
      if (isAway && now() < flushedAt + FLUSH_AWAY_MS) return wait(flushed)
      flush()
      flushed()
    }, FLUSH_MS)
  }

  return {
    delivery: {
      ...delivery,
      drain(limitMs) {
        flush()
        return delivery.drain(limitMs)
      },
    },
    count({ modelCall, keyId, status, teamId, organizationId, userId, route, code, scope }) {
      if (!modelCall || keyId === '' || status < 400 || status === CLIENT_CLOSED) return
      const present = now() - (now() % MINUTE_MS)
      if (present !== minute) {
        minute = present
        kinds = 0
      }
      add({
        minute: new Date(minute).toISOString(),
        key_id: keepable(keyId, LONGEST_TEXT),
        team_id: keepable(teamId, LONGEST_TEXT),
        organization_id: keepable(organizationId, LONGEST_TEXT),
        user_id: keepable(userId, LONGEST_TEXT),
        endpoint: route,
        code: keepable(code, LONGEST_TEXT),
        scope: keepable(scope, LONGEST_TEXT),
      })
      schedule()
    },
  }
}

const CLIENT_CLOSED = 499
