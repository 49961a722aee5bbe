import { digestOf } from '../lib/crypto.ts'
import type { GatewayError } from '../lib/errors.ts'
import { describeError, type Log } from '../lib/log.ts'
import { mayBeApiKey } from '../lib/token.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { RecordVersion, SharedStore } from '../stores/kv/shared-store.ts'
import type { CallerRecords } from '../stores/sql/records/caller-records.ts'
import { SqlError } from '../stores/sql/sql.ts'
import { callerOf } from './caller-of.ts'
import { type KeyId, type KnownKey, knownKeys } from './known-keys.ts'
import { rechecks } from './rechecks.ts'
import { refusal } from './refusal.ts'
import { sharedCallers } from './shared-callers.ts'
import { type StoredCaller, storedCallers } from './stored-callers.ts'

/** How long an unused caller stays in memory. */
const CACHED_MS = 600_000

/** The reading time of an entry of the shared store: another process read it, so it counts as old. */
const READ_ELSEWHERE = 0

/** The record that exists if a key does: the store has version 1 of it once the key was created. */
export const credentialRecord = (keyHash: string) => `credential:${keyHash}`

/** Finds the caller of a virtual key: in this process's memory, then in the shared store, then in the database. A cached
 *  caller may be outdated, so admission compares its versions, and rechecks read the database beside the calls. */
export function apiKeys(options: {
  readonly hash: (key: string) => string
  readonly records: CallerRecords
  readonly store: SharedStore
  readonly targetDefault: 'allow' | 'deny'
  /** How many callers memory holds. A caller with limits on all levels takes about 6 KB. */
  readonly callersKept: number
  /** How long a caller stays valid while neither the shared store nor the database can confirm it. */
  readonly graceMs: number
  readonly now: () => number
  readonly log: Log
  /** Delays the lookup of a key that is not in memory for an address that failed too often. */
  readonly pace?: (address: string) => Promise<void> | undefined
  readonly defer?: (work: Promise<void>) => void
}): (key: string, address: string) => Caller | Promise<Caller> {
  const { hash, records, store, targetDefault, callersKept, graceMs, now, log } = options
  const { defer = () => {}, pace = () => undefined } = options
  const memory = knownKeys({ now, callersKept, keptMs: Math.max(CACHED_MS, graceMs) })
  const shared = sharedCallers(store, log)
  // No request waits until the shared store has its copy.
  const database = storedCallers({ records, onRead: (keyHash, stored) => defer(shared.put(keyHash, stored)), now })
  const checks = rechecks({ recheck, now, defer })

  return (key, address) => {
    const digest = digestOf(key)
    const entry = memory.get(digest)
    if (!entry && !mayBeApiKey(key)) throw invalidKey()
    if (!entry) return lookUp({ digest, hash: hash(key) }, address)
    checks.whenDue(entry, store.mode() === 'degraded')
    return memory.refusalOf(entry, address) ? usableCaller(entry, address) : entry.caller
  }

  /** Finds a key that is not in memory. */
  async function lookUp(id: KeyId, address: string): Promise<Caller> {
    const turn = pace(address)
    if (turn) await turn
    if (memory.isMissing(id.hash)) {
      // The key may have been created since.
      if (!(await shared.createdSince(credentialRecord(id.hash)))) throw invalidKey()
      memory.forgetMissing(id.hash)
      return read(id, address)
    }
    const stored = await shared.get(id.hash)
    if (!stored) return read(id, address)
    if (stored.record.key.revoked) throw invalidKey()
    return usableCaller(memory.put(id, callerFrom(id, stored, READ_ELSEWHERE), stored.record.key), address)
  }

  /** Reads a key from the database, past every cache. */
  async function read(id: KeyId, address: string): Promise<Caller> {
    memory.forget(id)
    const stored = await database.find(id.hash)
    if (!stored) memory.putMissing(id.hash)
    if (!stored || stored.record.key.revoked) throw invalidKey()
    const entry = memory.put(id, callerFrom(id, stored), stored.record.key)
    const refused = memory.refusalOf(entry, address)
    if (refused) throw refused
    return entry.caller
  }

  /** The caller of a cached entry. Before a refusal the shared store is asked whether the record has changed since. */
  async function usableCaller(entry: KnownKey, address: string): Promise<Caller> {
    const refused = memory.refusalOf(entry, address)
    if (!refused) return entry.caller
    if (await shared.changedSince(entry.caller.versions)) return read(entry.id, address)
    throw refused
  }

  function callerFrom(id: KeyId, { record, readAt }: StoredCaller, reportedReadAt = readAt): Caller {
    const caller = callerOf(record, {
      targetDefault,
      readAt: reportedReadAt,
      confirmedAt: Math.min(readAt, now()),
      again: (address) => read(id, address),
      confirmed: (address) => confirmed(id, caller, address),
    })
    return caller
  }

  /** Reads a caller again, or keeps it for the grace period while the database is away. Once the database is known to be
   *  away, calls no longer wait for it. */
  async function confirmed(id: KeyId, caller: Caller, address: string): Promise<Caller> {
    const entry = memory.get(id.digest)
    let failure = new SqlError('The database has not answered.')
    if (database.away && entry) checks.soon(entry)
    else {
      try {
        return await read(id, address)
      } catch (error) {
        if (!(error instanceof SqlError && error.isAway)) throw error
        failure = error
        if (entry) memory.prolong(entry)
      }
    }
    if (now() - caller.confirmedAt < graceMs) return caller
    throw failure
  }

  /** Compares a cached entry with the database, and publishes a change that was never published. */
  async function recheck(entry: KnownKey): Promise<void> {
    const { id, caller } = entry
    try {
      const stored = await database.find(id.hash)
      if (memory.get(id.digest) !== entry) return
      if (!stored) {
        memory.forget(id)
        memory.putMissing(id.hash)
        await shared.remove(id.hash)
        return
      }
      const fresh = callerFrom(id, stored)
      const age = ageOf(fresh.versions, caller.versions)
      if (age === 'newer') {
        if (stored.record.key.revoked) memory.forget(id)
        else memory.put(id, fresh, stored.record.key)
        await store.publish({ records: fresh.versions, removed: [] })
        return
      }
      if (age === 'same') caller.confirmedAt = Math.max(caller.confirmedAt, stored.readAt)
      memory.prolong(entry)
    } catch (error) {
      // Admission still compares the versions of the entry, or its grace period ends.
      if (memory.get(id.digest) === entry) memory.prolong(entry)
      log.debug('identity.not_checked', { error: describeError(error) })
    }
  }
}

function invalidKey(): GatewayError {
  return refusal('invalid_api_key', 'The API key is not valid.')
}

/** How the versions just read compare with the cached ones: a read that began before a change may end after it. */
function ageOf(read: readonly RecordVersion[], cached: readonly RecordVersion[]): 'newer' | 'same' | 'older' {
  const cachedVersions = new Map(cached.map(({ record, version }) => [record, version]))
  if (read.some(({ record, version }) => version < (cachedVersions.get(record) ?? 0))) return 'older'
  return read.length === cached.length && read.every(({ record, version }) => version === cachedVersions.get(record))
    ? 'same'
    : 'newer'
}
