import { addressMatcher } from '../lib/address-range.ts'
import { atMost } from '../lib/at-most.ts'
import { digestOf } from '../lib/crypto.ts'
import { GatewayError } from '../lib/errors.ts'
import { describeError, type Log } from '../lib/log.ts'
import type { Caller } from '../pipeline/caller.ts'
import { expiringMap } from '../stores/kv/in-process/expiring-map.ts'
import { authKey } from '../stores/kv/keys.ts'
import type { RecordVersion, SharedStore } from '../stores/kv/shared-store.ts'
import type { CallerRecord, CallerRecords } from '../stores/sql/caller-records.ts'
import { callerOf } from './caller-of.ts'
import { refusal } from './refusal.ts'

/** What a key looks like. Anything else is refused before any work is done for it. */
const FORM = /^sk-[\w-]{43}$/

/** A caller that is kept is as good as its versions, which admission compares. The time only bounds what is forgotten
 *  there. While the shared store is away nobody compares, and it is short. */
const KNOWN_MS = 600_000
const KNOWN_WHILE_DEGRADED_MS = 5000
const UNKNOWN_MS = 30_000
/** An unknown key costs a fortieth of a caller. */
const UNKNOWN_FOR_KNOWN = 5
const SHARED_SECONDS = 3600
/** How long a request waits for the look at the database that another one has begun: on a runtime that kills the other
 *  with its client, that look never ends. */
const SHARED_LOOK_MS = 2000

/** What another process put into the shared store may be old. */
const READ_BY_ANOTHER = 0

/** The record that says whether a key exists at all: it gets version 1 when the key is made. */
export const credentialRecord = (keyHash: string) => `credential:${keyHash}`

/** A key that may be one. */
interface Named {
  /** What it is called in this isolate's memory. */
  readonly digest: string
  /** What everybody else calls it. */
  readonly hash: string
}

/** What is kept of a key. */
interface Known {
  readonly named: Named
  readonly caller: Caller
  readonly expiresAt: number
  /** undefined: from anywhere. */
  readonly allowedFrom: ((address: string) => boolean) | undefined
}

/** Virtual keys: from the text of a key to its caller, through this isolate's memory, the shared store and the database.
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
  const known = expiringMap<Known>(now, callersKept)
  const unknown = expiringMap<true>(now, UNKNOWN_FOR_KNOWN * callersKept)
  const looking = new Map<string, Promise<CallerRecord | undefined>>()

  /** Why a key that exists may not be used now, or from there. */
  function objection({ expiresAt, allowedFrom }: Known, address: string): GatewayError | undefined {
    if (expiresAt <= now()) return refusal('expired_api_key', 'The API key has expired.')
    if (!allowedFrom || allowedFrom(address)) return undefined
    const message = 'The API key may not be used from this address.'
    return new GatewayError('permission', message, { code: 'address_not_allowed' })
  }

  function keep(named: Named, record: CallerRecord, readAt: number): Known {
    const { expires_at, allowed_ips } = record.key
    const again = (address: string) => readAgain(named, address)
    const entry: Known = {
      named,
      caller: callerOf(record, { targetDefault, again, readAt }),
      expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
      allowedFrom: allowed_ips === null ? undefined : addressMatcher(allowed_ips),
    }
    known.set(named.digest, entry, now() + KNOWN_MS)
    return entry
  }

  async function readAgain(named: Named, address: string): Promise<Caller> {
    known.delete(named.digest)
    const record = await look(named.hash)
    if (!record) unknown.set(named.hash, true, now() + UNKNOWN_MS)
    if (!record || record.key.revoked) throw invalid()
    const entry = keep(named, record, now())
    const refused = objection(entry, address)
    if (refused) throw refused
    return entry.caller
  }

  /** What is remembered refuses nobody by itself: the record may have been changed since. */
  async function remembered(entry: Known, address: string): Promise<Caller> {
    const refused = objection(entry, address)
    if (!refused) return entry.caller
    if (await changedSince(entry.caller.versions)) return readAgain(entry.named, address)
    throw refused
  }

  /** Asks the database, once for all who ask at the same time. */
  async function look(keyHash: string): Promise<CallerRecord | undefined> {
    const begun = looking.get(keyHash)
    if (begun) {
      const shared = await atMost(SHARED_LOOK_MS, begun)
      if (shared) return shared.value
    }
    const own = records.byKeyHash(keyHash)
    looking.set(keyHash, own)
    try {
      const record = await own
      if (record) await share(keyHash, record)
      return record
    } finally {
      if (looking.get(keyHash) === own) looking.delete(keyHash)
    }
  }

  async function share(keyHash: string, record: CallerRecord): Promise<void> {
    try {
      await store.put(authKey(keyHash), JSON.stringify(record), SHARED_SECONDS)
    } catch (error) {
      log.warn('auth_cache.failed', { error: describeError(error) })
    }
  }

  async function shared(keyHash: string): Promise<CallerRecord | undefined> {
    try {
      const text = await store.get(authKey(keyHash))
      return text === undefined ? undefined : (JSON.parse(text) as CallerRecord)
    } catch {
      return undefined
    }
  }

  /** Whether there are newer versions: the shared store knows, at the price of one question. */
  async function changedSince(versions: readonly RecordVersion[]): Promise<boolean> {
    const nothing = { quotas: [], tokens: 0, slots: [], budgets: [], candidates: [], leaseSeconds: 1 }
    const answer = await store.admit({ callId: 'identify', attemptId: 'identify', versions, ...nothing })
    return answer.kind === 'stale'
  }

  async function find(named: Named, address: string): Promise<Caller> {
    const { hash: keyHash } = named
    if (unknown.get(keyHash)) {
      // It may have been made since.
      if (!(await changedSince([{ record: credentialRecord(keyHash), version: 0 }]))) throw invalid()
      unknown.delete(keyHash)
      return readAgain(named, address)
    }
    const record = await shared(keyHash)
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
    return objection(entry, address) ? remembered(entry, address) : entry.caller
  }
}

function invalid(): GatewayError {
  return refusal('invalid_api_key', 'The API key is not valid.')
}
