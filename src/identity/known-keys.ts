import { addressMatcher } from '../lib/addresses/address-range.ts'
import type { GatewayError } from '../lib/errors.ts'
import type { Caller } from '../pipeline/caller.ts'
import { expiringMap } from '../stores/kv/in-process/expiring-map.ts'
import type { CallerRecord } from '../stores/sql/records/caller-records.ts'
import { addressRefused, refusal } from './refusal.ts'

const MISSING_MS = 30_000
/** How many missing keys are cached for each cached caller. A missing key takes a fortieth of a caller's memory, and a
 *  client that guesses keys sends each only once. */
const MISSING_PER_CALLER = 1

/** The two names of a key's text. */
export interface KeyId {
  /** In this process's memory. */
  readonly digest: string
  /** In the shared store and the database. */
  readonly hash: string
}

/** A key that exists, with its caller. */
export interface KnownKey {
  readonly id: KeyId
  readonly caller: Caller
  readonly expiresAt: number
  /** undefined allows every address. */
  readonly allowedFrom: ((address: string) => boolean) | undefined
  /** When the database was last asked for changes of it. */
  checkedAt: number
}

/** The keys in this process's memory: a bounded number of callers, and of keys that do not exist. A cached caller may be
 *  outdated; admission compares its versions. */
export interface KnownKeys {
  get(digest: string): KnownKey | undefined
  put(id: KeyId, caller: Caller, key: CallerRecord['key']): KnownKey
  /** Restarts the expiry of a cached key. */
  prolong(known: KnownKey): void
  forget(id: KeyId): void
  isMissing(keyHash: string): boolean
  putMissing(keyHash: string): void
  forgetMissing(keyHash: string): void
  /** The refusal of a key that is expired or not allowed from this address. */
  refusalOf(known: KnownKey, address: string): GatewayError | undefined
}

export function knownKeys(options: {
  readonly now: () => number
  readonly callersKept: number
  /** How long an unconfirmed caller stays cached. */
  readonly keptMs: number
}): KnownKeys {
  const { now, callersKept, keptMs } = options
  const known = expiringMap<KnownKey>(now, callersKept)
  const missing = expiringMap<true>(now, MISSING_PER_CALLER * callersKept)
  const prolong = (entry: KnownKey) => known.set(entry.id.digest, entry, now() + keptMs)
  return {
    get: known.get,
    put(id, caller, { expires_at, allowed_ips }) {
      const entry = {
        id,
        caller,
        expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
        allowedFrom: allowed_ips === null ? undefined : addressMatcher(allowed_ips),
        checkedAt: caller.confirmedAt,
      }
      prolong(entry)
      return entry
    },
    prolong,
    forget: ({ digest }) => known.delete(digest),
    isMissing: (keyHash) => missing.get(keyHash) === true,
    putMissing: (keyHash) => missing.set(keyHash, true, now() + MISSING_MS),
    forgetMissing: (keyHash) => missing.delete(keyHash),
    refusalOf({ expiresAt, allowedFrom }, address) {
      if (expiresAt <= now()) return refusal('expired_api_key', 'The API key has expired.')
      return !allowedFrom || allowedFrom(address) ? undefined : addressRefused()
    },
  }
}
