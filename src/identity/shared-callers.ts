import { describeError, type Log } from '../lib/log.ts'
import { authKey } from '../stores/kv/keys.ts'
import type { RecordVersion, SharedStore } from '../stores/kv/shared-store.ts'
import type { CallerRecord } from '../stores/sql/caller-records.ts'

const SHARED_SECONDS = 3600

/** The callers that any process has read from the database, in the shared store. A store that is away only makes more
 *  look-ups: nothing here fails but `changedSince`. */
export interface SharedCallers {
  get(keyHash: string): Promise<CallerRecord | undefined>
  put(keyHash: string, record: CallerRecord): Promise<void>
  /** Whether there are newer versions: the shared store knows, at the price of one question. */
  changedSince(versions: readonly RecordVersion[]): Promise<boolean>
}

export function sharedCallers(store: SharedStore, log: Log): SharedCallers {
  return {
    async get(keyHash) {
      try {
        const text = await store.get(authKey(keyHash))
        return text === undefined ? undefined : (JSON.parse(text) as CallerRecord)
      } catch {
        return undefined
      }
    },
    async put(keyHash, record) {
      try {
        await store.put(authKey(keyHash), JSON.stringify(record), SHARED_SECONDS)
      } catch (error) {
        log.warn('auth_cache.failed', { error: describeError(error) })
      }
    },
    async changedSince(versions) {
      const nothing = { quotas: [], tokens: 0, slots: [], budgets: [], candidates: [], leaseSeconds: 1 }
      const answer = await store.admit({ callId: 'identify', attemptId: 'identify', versions, ...nothing })
      return answer.kind === 'stale'
    },
  }
}
