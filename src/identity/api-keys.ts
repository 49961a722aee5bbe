import { digestOf } from '../lib/crypto.ts'
import type { GatewayError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { SharedStore } from '../stores/kv/shared-store.ts'
import type { CallerRecord, CallerRecords } from '../stores/sql/caller-records.ts'
import { callerOf } from './caller-of.ts'
import { type KnownKey, knownKeys, type Named } from './known-keys.ts'
import { refusal } from './refusal.ts'
import { sharedCallers } from './shared-callers.ts'
import { storedCallers } from './stored-callers.ts'

/** What a key looks like. Anything else is refused before any work is done for it. */
const FORM = /^sk-[\w-]{43}$/

/** While the shared store is away nobody compares versions. */
const KNOWN_WHILE_DEGRADED_MS = 5000

/** What another process put into the shared store may be old. */
const READ_BY_ANOTHER = 0

/** The record that says whether a key exists at all: it gets version 1 when the key is made. */
export const credentialRecord = (keyHash: string) => `credential:${keyHash}`

/** Virtual keys: from the text of a key to its caller, through this process's memory, the shared store and the database.
 *  What is remembered is never trusted for long enough to matter: admission compares versions. */
export function apiKeys(options: {
  readonly hash: (key: string) => string
  readonly records: CallerRecords
  readonly store: SharedStore
  readonly targetDefault: 'allow' | 'deny'
  /** How many callers are remembered. One with limits on all levels takes about 6 KB. */
  readonly callersKept: number
  readonly now: () => number
  readonly log: Log
}): (key: string, address: string) => Caller | Promise<Caller> {
  const { hash, records, store, targetDefault, callersKept, now, log } = options
  const known = knownKeys(now, callersKept)
  const shared = sharedCallers(store, log)
  const stored = storedCallers(records, shared.put)

  function keep(named: Named, record: CallerRecord, readAt: number): KnownKey {
    const again = (address: string) => readAgain(named, address)
    return known.keep(named, callerOf(record, { targetDefault, again, readAt }), record.key)
  }

  async function readAgain(named: Named, address: string): Promise<Caller> {
    known.forget(named)
    const record = await stored.find(named.hash)
    if (!record) known.keepUnknown(named.hash)
    if (!record || record.key.revoked) throw invalid()
    const entry = keep(named, record, now())
    const refused = known.objection(entry, address)
    if (refused) throw refused
    return entry.caller
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
    if (known.isUnknown(keyHash)) {
      // It may have been made since.
      if (!(await shared.changedSince([{ record: credentialRecord(keyHash), version: 0 }]))) throw invalid()
      known.forgetUnknown(keyHash)
      return readAgain(named, address)
    }
    const record = await shared.get(keyHash)
    if (!record) return readAgain(named, address)
    if (record.key.revoked) throw invalid()
    return remembered(keep(named, record, READ_BY_ANOTHER), address)
  }

  return (key, address) => {
    if (!FORM.test(key)) throw invalid()
    const digest = digestOf(key)
    const entry = known.get(digest)
    if (!entry) return find({ digest, hash: hash(key) }, address)
    const old = store.mode() === 'degraded' && now() - entry.caller.readAt >= KNOWN_WHILE_DEGRADED_MS
    if (old) return readAgain(entry.named, address)
    return known.objection(entry, address) ? remembered(entry, address) : entry.caller
  }
}

function invalid(): GatewayError {
  return refusal('invalid_api_key', 'The API key is not valid.')
}
