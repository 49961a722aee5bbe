import type { Caller } from '../pipeline/caller.ts'
import { expiringMap } from '../stores/kv/in-process/expiring-map.ts'
import type { CallerRecordsById } from '../stores/sql/records/caller-records.ts'
import { SqlError } from '../stores/sql/sql.ts'
import { callerOf } from './caller-of.ts'
import { masterCaller } from './master-caller.ts'
import { refusal } from './refusal.ts'

/** How old a reading may be. A change within this time is found by admission, which compares versions. */
const KEPT_MS = 20_000
const MOST_KEPT = 1000

/** The callers of keys that are known by their ids: for work that a key has ordered, and that runs without a request of
 *  its own. There is no address that it could come from. */
export interface KeyCallers {
  /** The caller as its records are now. Rejects with the refusal if the key is revoked or expired, is no longer there,
   *  or belongs to an account that is not active. */
  find(keyId: string): Promise<Caller>
}

interface Known {
  readonly caller: Caller
  readonly expiresAt: number
}

export function keyCallers(options: {
  readonly records: CallerRecordsById
  readonly targetDefault: 'allow' | 'deny'
  /** How long a caller stays valid while neither the shared store nor the database can confirm it. */
  readonly graceMs: number
  readonly now: () => number
}): KeyCallers {
  const { records, targetDefault, graceMs, now } = options
  const known = expiringMap<Known>(now, MOST_KEPT)

  async function read(keyId: string): Promise<Caller> {
    known.delete(keyId)
    const readAt = now()
    const record = await records.byKeyId(keyId)
    if (!record || record.key.revoked) throw refusal('invalid_api_key', 'The API key is not valid.')
    const caller = callerOf(record, {
      targetDefault,
      readAt,
      confirmedAt: readAt,
      again: () => read(keyId),
      confirmed: () => confirmed(keyId, caller),
    })
    const { expires_at } = record.key
    const expiresAt = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
    known.set(keyId, { caller, expiresAt }, readAt + KEPT_MS)
    return usable({ caller, expiresAt })
  }

  function usable({ caller, expiresAt }: Known): Caller {
    if (expiresAt <= now()) throw refusal('expired_api_key', 'The API key has expired.')
    return caller
  }

  async function confirmed(keyId: string, caller: Caller): Promise<Caller> {
    try {
      return await read(keyId)
    } catch (error) {
      const isAway = error instanceof SqlError && error.isAway
      if (isAway && now() - caller.confirmedAt < graceMs) return caller
      throw error
    }
  }

  return {
    async find(keyId) {
      if (keyId === masterCaller.kind) return masterCaller
      const found = known.get(keyId)
      return found ? usable(found) : read(keyId)
    },
  }
}
