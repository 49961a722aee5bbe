import { atMost } from '../lib/at-most.ts'
import { together } from '../lib/together.ts'
import type { CallerRecord, CallerRecords } from '../stores/sql/records/caller-records.ts'
import { SqlError } from '../stores/sql/sql.ts'

/** How long a request waits for the look at the database that another one has begun: on a runtime that kills the other
 *  with its client, that look never ends. */
const OTHERS_LOOK_MS = 500

/** A record of the database. What is true of it was true when the look at it began. */
export interface StoredCaller {
  readonly record: CallerRecord
  /** Milliseconds since 1970. */
  readonly readAt: number
}

/** The callers of the database, which is asked once for all who ask for the same key at the same time. */
export interface StoredCallers {
  /** undefined: there is no such key. */
  find(keyHash: string): Promise<StoredCaller | undefined>
  /** Whether the database did not answer when it was last asked. */
  readonly away: boolean
}

export function storedCallers(options: {
  readonly records: CallerRecords
  /** Told of each record that was found. */
  readonly found: (keyHash: string, stored: StoredCaller) => void
  readonly now: () => number
}): StoredCallers {
  const { records, found, now } = options
  const ask = together(records.byKeyHash, records.byKeyHashes)
  const looking = new Map<string, Promise<StoredCaller | undefined>>()
  let away = false

  async function look(keyHash: string): Promise<StoredCaller | undefined> {
    const readAt = now()
    try {
      const record = await ask(keyHash)
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
      for (let begun = looking.get(keyHash); begun; ) {
        const shared = await atMost(OTHERS_LOOK_MS, begun)
        if (shared) return shared.value
        const present = looking.get(keyHash)
        if (present === begun) break
        // Somebody else has begun anew.
        begun = present
      }
      const own = look(keyHash)
      looking.set(keyHash, own)
      try {
        const stored = await own
        if (stored) found(keyHash, stored)
        return stored
      } finally {
        if (looking.get(keyHash) === own) looking.delete(keyHash)
      }
    },
  }
}
