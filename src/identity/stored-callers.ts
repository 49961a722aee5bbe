import { atMost } from '../lib/timers/at-most.ts'
import { together } from '../lib/together.ts'
import type { CallerRecord, CallerRecords } from '../stores/sql/records/caller-records.ts'
import { SqlError } from '../stores/sql/sql.ts'

/** How long a request waits for a lookup that another request began: a runtime that kills the other request with its
 *  client never ends that lookup. */
const OTHERS_LOOKUP_MS = 500

/** A caller as it stands in the database. */
export interface StoredCaller {
  readonly record: CallerRecord
  /** When the lookup began, in milliseconds since 1970. */
  readonly readAt: number
}

/** The callers in the database. Simultaneous lookups of one key share a query. */
export interface StoredCallers {
  /** undefined if there is no such key. */
  find(keyHash: string): Promise<StoredCaller | undefined>
  /** The database did not answer the last lookup. */
  readonly away: boolean
}

export function storedCallers(options: {
  readonly records: CallerRecords
  /** Called with every caller that was read. */
  readonly onRead: (keyHash: string, stored: StoredCaller) => void
  readonly now: () => number
}): StoredCallers {
  const { records, onRead, now } = options
  const query = together(records.byKeyHash, records.byKeyHashes)
  const lookups = new Map<string, Promise<StoredCaller | undefined>>()
  let away = false

  async function lookUp(keyHash: string): Promise<StoredCaller | undefined> {
    const readAt = now()
    try {
      const record = await query(keyHash)
      away = false
      return record && { record, readAt }
    } catch (error) {
      away = error instanceof SqlError && error.isAway
      throw error
    }
  }

  return {
    get away() {
      return away
    },
    async find(keyHash) {
      for (let begun = lookups.get(keyHash); begun; ) {
        const ended = await atMost(OTHERS_LOOKUP_MS, begun)
        if (ended) return ended.value
        const latest = lookups.get(keyHash)
        if (latest === begun) break
        // Another request has replaced the lookup that took too long.
        begun = latest
      }
      const own = lookUp(keyHash)
      lookups.set(keyHash, own)
      try {
        const stored = await own
        if (stored) onRead(keyHash, stored)
        return stored
      } finally {
        if (lookups.get(keyHash) === own) lookups.delete(keyHash)
      }
    },
  }
}
