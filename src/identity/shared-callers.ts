import { describeError, type Log } from '../lib/log.ts'
import { together } from '../lib/together.ts'
import { authKey } from '../stores/kv/keys.ts'
import type { RecordVersion, SharedStore } from '../stores/kv/shared-store.ts'
import type { StoredCaller } from './stored-callers.ts'

const SHARED_SECONDS = 3600

/** The callers that any process has read from the database, in the shared store. A store that is away only makes more
 *  look-ups: nothing here fails but `changedSince`. */
export interface SharedCallers {
  get(keyHash: string): Promise<StoredCaller | undefined>
  put(keyHash: string, stored: StoredCaller): Promise<void>
  remove(keyHash: string): Promise<void>
  /** Whether there are newer versions: the shared store knows, at the price of one question. */
  changedSince(versions: readonly RecordVersion[]): Promise<boolean>
  /** Whether there is a record by now of which there was none. Questions of the same moment go together. */
  madeSince(record: string): Promise<boolean>
}

export function sharedCallers(store: SharedStore, log: Log): SharedCallers {
  async function harmless(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      log.warn('auth_cache.failed', { error: describeError(error) })
    }
  }
  async function changed(versions: readonly RecordVersion[]): Promise<readonly string[]> {
    const nothing = { quotas: [], tokens: 0, slots: [], budgets: [], candidates: [], leaseSeconds: 1 }
    const answer = await store.admit({ callId: 'identify', attemptId: 'identify', versions, ...nothing })
    return answer.kind === 'stale' ? answer.records : []
  }
  return {
    async get(keyHash) {
      try {
        const text = await store.get(authKey(keyHash))
        return text === undefined ? undefined : (JSON.parse(text) as StoredCaller)
      } catch {
        return undefined
      }
    },
    put: (keyHash, stored) => harmless(store.put(authKey(keyHash), JSON.stringify(stored), SHARED_SECONDS)),
    remove: (keyHash) => harmless(store.remove(authKey(keyHash))),
    changedSince: async (versions) => (await changed(versions)).length > 0,
    madeSince: together(
      async (record) => (await changed([{ record, version: 0 }])).length > 0,
      async (records) => {
        const made = new Set(await changed(records.map((record) => ({ record, version: 0 }))))
        return records.map((record) => made.has(record))
      },
    ),
  }
}
