import { mayBeApiKey } from '../lib/api-key.ts'
import { digestOf } from '../lib/crypto.ts'
import type { GatewayError } from '../lib/errors.ts'
import { describeError, type Log } from '../lib/log.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { RecordVersion, SharedStore } from '../stores/kv/shared-store.ts'
import type { CallerRecords } from '../stores/sql/records/caller-records.ts'
import { SqlError } from '../stores/sql/sql.ts'
import { callerOf } from './caller-of.ts'
import { type KnownKey, knownKeys, type Named } from './known-keys.ts'
import { rechecks } from './rechecks.ts'
import { refusal } from './refusal.ts'
import { sharedCallers } from './shared-callers.ts'
import { type StoredCaller, storedCallers } from './stored-callers.ts'

/** How long a caller is remembered that nobody uses. */
const KNOWN_MS = 600_000

/** What another process put into the shared store may be old. */
const READ_BY_ANOTHER = 0

/** The record that says whether a key exists at all: it gets version 1 when the key is made. */
export const credentialRecord = (keyHash: string) => `credential:${keyHash}`

/** Virtual keys: from the text of a key to its caller, through this process's memory, the shared store and the database.
 *  What is remembered is never trusted for long enough to matter: admission compares versions, and the database is asked
 *  again beside the calls. */
export function apiKeys(options: {
  readonly hash: (key: string) => string
  readonly records: CallerRecords
  readonly store: SharedStore
  readonly targetDefault: 'allow' | 'deny'
  /** How many callers are remembered. One with limits on all levels takes about 6 KB. */
  readonly callersKept: number
  /** How long a caller is believed whom neither the shared store nor the database can confirm. */
  readonly graceMs: number
  readonly now: () => number
  readonly log: Log
  /** What a look at a key that is not known has to wait for, where others of its address have failed too often. */
  readonly pace?: (address: string) => Promise<void> | undefined
  readonly defer?: (work: Promise<void>) => void
}): (key: string, address: string) => Caller | Promise<Caller> {
  const { hash, records, store, targetDefault, callersKept, graceMs, now, log } = options
  const { defer = () => {}, pace = () => undefined } = options
  const known = knownKeys({ now, callersKept, keptMs: Math.max(KNOWN_MS, graceMs) })
  const shared = sharedCallers(store, log)
  // Nobody waits until the others know it, too.
  const stored = storedCallers({ records, found: (keyHash, found) => defer(shared.put(keyHash, found)), now })
  const checks = rechecks({ recheck, now, defer })

  function callerFrom(named: Named, { record, readAt }: StoredCaller, by?: typeof READ_BY_ANOTHER): Caller {
    const caller = callerOf(record, {
      targetDefault,
      readAt: by ?? readAt,
      confirmedAt: Math.min(readAt, now()),
      again: (address) => readAgain(named, address),
      confirmed: (address) => confirmed(named, caller, address),
    })
    return caller
  }

  function keep(named: Named, found: StoredCaller, by?: typeof READ_BY_ANOTHER): KnownKey {
    return known.keep(named, callerFrom(named, found, by), found.record.key)
  }

  async function readAgain(named: Named, address: string): Promise<Caller> {
    known.forget(named)
    const found = await stored.find(named.hash)
    if (!found) known.keepUnknown(named.hash)
    if (!found || found.record.key.revoked) throw invalid()
    const entry = keep(named, found)
    const refused = known.objection(entry, address)
    if (refused) throw refused
    return entry.caller
  }

  /** Where the database is away, nobody waits for it a second time. */
  async function confirmed(named: Named, caller: Caller, address: string): Promise<Caller> {
    const entry = known.get(named.digest)
    let trouble = new SqlError('The database has not answered.')
    if (stored.away && entry) checks.soon(entry)
    else {
      try {
        return await readAgain(named, address)
      } catch (error) {
        if (!(error instanceof SqlError && error.isAway)) throw error
        trouble = error
        if (entry) known.prolong(entry)
      }
    }
    if (now() - caller.confirmedAt < graceMs) return caller
    throw trouble
  }

  /** Compares what is kept with the database, and tells everybody what nobody has told them. */
  async function recheck(entry: KnownKey): Promise<void> {
    const { named, caller } = entry
    try {
      const found = await stored.find(named.hash)
      if (known.get(named.digest) !== entry) return
      if (!found) {
        known.forget(named)
        known.keepUnknown(named.hash)
        await shared.remove(named.hash)
        return
      }
      const fresh = callerFrom(named, found)
      const age = compared(fresh.versions, caller.versions)
      if (age === 'newer') {
        if (found.record.key.revoked) known.forget(named)
        else known.keep(named, fresh, found.record.key)
        await store.publish({ records: fresh.versions, removed: [] })
        return
      }
      if (age === 'same') caller.confirmedAt = Math.max(caller.confirmedAt, found.readAt)
      known.prolong(entry)
    } catch (error) {
      // Its versions are compared with every call, or its time runs out.
      if (known.get(named.digest) === entry) known.prolong(entry)
      log.debug('identity.not_checked', { error: describeError(error) })
    }
  }

  /** What is remembered refuses nobody by itself: the record may have been changed since. */
  async function remembered(entry: KnownKey, address: string): Promise<Caller> {
    const refused = known.objection(entry, address)
    if (!refused) return entry.caller
    if (await shared.changedSince(entry.caller.versions)) return readAgain(entry.named, address)
    throw refused
  }

  async function find(named: Named, address: string): Promise<Caller> {
    const { hash: keyHash } = named
    const turn = pace(address)
    if (turn) await turn
    if (known.isUnknown(keyHash)) {
      // It may have been made since.
      if (!(await shared.madeSince(credentialRecord(keyHash)))) throw invalid()
      known.forgetUnknown(keyHash)
      return readAgain(named, address)
    }
    const found = await shared.get(keyHash)
    if (!found) return readAgain(named, address)
    if (found.record.key.revoked) throw invalid()
    return remembered(keep(named, found, READ_BY_ANOTHER), address)
  }

  return (key, address) => {
    const digest = digestOf(key)
    const entry = known.get(digest)
    if (!entry && !mayBeApiKey(key)) throw invalid()
    if (!entry) return find({ digest, hash: hash(key) }, address)
    checks.whenDue(entry, store.mode() === 'degraded')
    return known.objection(entry, address) ? remembered(entry, address) : entry.caller
  }
}

function invalid(): GatewayError {
  return refusal('invalid_api_key', 'The API key is not valid.')
}

/** What a look at the database found, against what is kept: one that began before a change may end after it. */
function compared(found: readonly RecordVersion[], kept: readonly RecordVersion[]): 'newer' | 'same' | 'older' {
  const of = new Map(kept.map(({ record, version }) => [record, version]))
  if (found.some(({ record, version }) => version < (of.get(record) ?? 0))) return 'older'
  return found.length === kept.length && found.every(({ record, version }) => version === of.get(record))
    ? 'same'
    : 'newer'
}
