import { addressMatcher } from '../lib/address-range.ts'
import { atMost } from '../lib/at-most.ts'
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
const KNOWN_CALLERS = 20_000
const UNKNOWN_MS = 30_000
const UNKNOWN_KEYS = 100_000
const SHARED_SECONDS = 3600
/** How long a request waits for the look at the database that another one has begun: on a runtime that kills the other
 *  with its client, that look never ends. */
const SHARED_LOOK_MS = 2000

/** The record that says whether a key exists at all: it gets version 1 when the key is made. */
export const credentialRecord = (keyHash: string) => `credential:${keyHash}`

/** What is kept of a key. */
interface Known {
  readonly caller: Caller
  readonly readAt: number
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
  readonly now: () => number
  readonly log: Log
}): (key: string, address: string) => Caller | Promise<Caller> {
  const { hash, records, store, targetDefault, now, log } = options
  const known = expiringMap<Known>(now, KNOWN_CALLERS)
  const unknown = expiringMap<true>(now, UNKNOWN_KEYS)
  const looking = new Map<string, Promise<CallerRecord | undefined>>()

  function admitted({ caller, expiresAt, allowedFrom }: Known, address: string): Caller {
    if (expiresAt <= now()) throw refusal('expired_api_key', 'The API key has expired.')
    if (allowedFrom && !allowedFrom(address)) {
      const message = 'The API key may not be used from this address.'
      throw new GatewayError('permission', message, { code: 'address_not_allowed' })
    }
    return caller
  }

  function keep(keyHash: string, record: CallerRecord, address: string): Known {
    const { expires_at, allowed_ips } = record.key
    const again = async () => admitted(await reread(keyHash, address), address)
    const entry: Known = {
      caller: callerOf(record, { targetDefault, again }),
      readAt: now(),
      expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
      allowedFrom: allowed_ips === null ? undefined : addressMatcher(allowed_ips),
    }
    known.set(keyHash, entry, now() + KNOWN_MS)
    return entry
  }

  async function reread(keyHash: string, address: string): Promise<Known> {
    known.delete(keyHash)
    const record = await look(keyHash)
    if (record && !record.key.revoked) return keep(keyHash, record, address)
    if (!record) unknown.set(keyHash, true, now() + UNKNOWN_MS)
    throw invalid()
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

  /** What is refused by memory alone never comes to admission: whether something has changed since, the shared store
   *  knows, at the price of one question. */
  async function changedSince(versions: readonly RecordVersion[]): Promise<boolean> {
    const nothing = { quotas: [], slots: [], budgets: [], candidates: [], leaseSeconds: 1 }
    const answer = await store.admit({ callId: 'identify', attemptId: 'identify', versions, ...nothing })
    return answer.kind === 'stale'
  }

  async function find(keyHash: string, address: string): Promise<Caller> {
    if (unknown.get(keyHash)) {
      if (!(await changedSince([{ record: credentialRecord(keyHash), version: 0 }]))) throw invalid()
      unknown.delete(keyHash)
      return admitted(await reread(keyHash, address), address)
    }
    const record = await shared(keyHash)
    if (!record) return admitted(await reread(keyHash, address), address)
    if (record.key.revoked) throw invalid()
    return admitted(keep(keyHash, record, address), address)
  }

  async function refusedAgain(keyHash: string, { caller }: Known, refusal: unknown, address: string): Promise<Caller> {
    if (!(await changedSince(caller.versions))) throw refusal
    return admitted(await reread(keyHash, address), address)
  }

  return (key, address) => {
    if (!FORM.test(key)) throw invalid()
    const keyHash = hash(key)
    const entry = known.get(keyHash)
    const good = entry && (store.mode() !== 'degraded' || now() - entry.readAt < KNOWN_WHILE_DEGRADED_MS)
    if (good) {
      try {
        return admitted(entry, address)
      } catch (refusal) {
        return refusedAgain(keyHash, entry, refusal, address)
      }
    }
    return entry ? reread(keyHash, address).then((read) => admitted(read, address)) : find(keyHash, address)
  }
}

function invalid(): GatewayError {
  return refusal('invalid_api_key', 'The API key is not valid.')
}
