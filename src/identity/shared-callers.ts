import { describeError, type Log } from '../lib/log.ts'
import { together } from '../lib/together.ts'
import { authKey } from '../stores/kv/keys.ts'
import { ASKS_NOTHING } from '../stores/kv/nothing.ts'
import type { RecordVersion, SharedStore } from '../stores/kv/shared-store.ts'
import type { StoredCaller } from './stored-callers.ts'

const SHARED_SECONDS = 3600

/** Callers in the shared store, where every process leaves those that it read from the database. While the store is
 *  away, callers are read from the database instead; only `changedSince` and `createdSince` reject. */
export interface SharedCallers {
  get(keyHash: string): Promise<StoredCaller | undefined>
  put(keyHash: string, stored: StoredCaller): Promise<void>
  remove(keyHash: string): Promise<void>
  /** Whether the shared store has a newer version of any of these records; one round trip. */
  changedSince(versions: readonly RecordVersion[]): Promise<boolean>
  /** Whether a record that did not exist has been created. Simultaneous questions share a round trip. */
  createdSince(record: string): Promise<boolean>
}

export function sharedCallers(store: SharedStore, log: Log): SharedCallers {
  async function logFailure(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      log.warn('auth_cache.failed', { error: describeError(error) })
    }
  }
  async function changed(versions: readonly RecordVersion[]): Promise<readonly string[]> {
    const asked = { ...ASKS_NOTHING, callId: 'identify', attemptId: 'identify', versions, leaseSeconds: 1 }
    const answer = await store.admit(asked)
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
    put: (keyHash, stored) => logFailure(store.put(authKey(keyHash), JSON.stringify(stored), SHARED_SECONDS)),
    remove: (keyHash) => logFailure(store.remove(authKey(keyHash))),
    changedSince: async (versions) => (await changed(versions)).length > 0,
    createdSince: together(
      async (record) => (await changed([{ record, version: 0 }])).length > 0,
      async (records) => {
        const created = new Set(await changed(records.map((record) => ({ record, version: 0 }))))
        return records.map((record) => created.has(record))
      },
    ),
  }
}
