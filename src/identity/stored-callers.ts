import { atMost } from '../lib/at-most.ts'
import type { CallerRecord, CallerRecords } from '../stores/sql/caller-records.ts'

/** How long a request waits for the look at the database that another one has begun: on a runtime that kills the other
 *  with its client, that look never ends. */
const SHARED_LOOK_MS = 2000

/** The callers of the database, which is asked once for all who ask for the same key at the same time. */
export interface StoredCallers {
  /** undefined: there is no such key. */
  find(keyHash: string): Promise<CallerRecord | undefined>
}

export function storedCallers(
  records: CallerRecords,
  /** Does with a record that was found what everybody who asked for it waits for. */
  found: (keyHash: string, record: CallerRecord) => Promise<void>,
): StoredCallers {
  const looking = new Map<string, Promise<CallerRecord | undefined>>()
  return {
    async find(keyHash) {
      const begun = looking.get(keyHash)
      if (begun) {
        const shared = await atMost(SHARED_LOOK_MS, begun)
        if (shared) return shared.value
      }
      const own = records.byKeyHash(keyHash)
      looking.set(keyHash, own)
      try {
        const record = await own
        if (record) await found(keyHash, record)
        return record
      } finally {
        if (looking.get(keyHash) === own) looking.delete(keyHash)
      }
    },
  }
}
