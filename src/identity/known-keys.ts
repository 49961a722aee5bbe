import { addressMatcher } from '../lib/address-range.ts'
import { GatewayError } from '../lib/errors.ts'
import type { Caller } from '../pipeline/caller.ts'
import { expiringMap } from '../stores/kv/in-process/expiring-map.ts'
import type { CallerRecord } from '../stores/sql/records/caller-records.ts'
import { refusal } from './refusal.ts'

const UNKNOWN_MS = 30_000
/** An unknown key costs a fortieth of a caller. Who tries many keys uses each of them once: to remember them all helps
 *  nobody. */
const UNKNOWN_FOR_KNOWN = 1

/** A key that may be one. */
export interface Named {
  /** What it is called in this process's memory. */
  readonly digest: string
  /** What everybody else calls it. */
  readonly hash: string
}

/** What is kept of a key. */
export interface KnownKey {
  readonly named: Named
  readonly caller: Caller
  readonly expiresAt: number
  /** undefined: from anywhere. */
  readonly allowedFrom: ((address: string) => boolean) | undefined
  /** When the database was last asked whether it is still so. */
  lookedAt: number
}

/** What this process remembers of keys: a bounded number of callers, and of keys that nobody has. A caller that is kept is
 *  as good as its versions, which admission compares. */
export interface KnownKeys {
  get(digest: string): KnownKey | undefined
  keep(named: Named, caller: Caller, key: CallerRecord['key']): KnownKey
  /** Keeps it for longer. */
  prolong(known: KnownKey): void
  forget(named: Named): void
  isUnknown(keyHash: string): boolean
  keepUnknown(keyHash: string): void
  forgetUnknown(keyHash: string): void
  /** Why a key that exists may not be used now, or from there. */
  objection(known: KnownKey, address: string): GatewayError | undefined
}

export function knownKeys(options: {
  readonly now: () => number
  readonly callersKept: number
  /** How long a caller is remembered that nobody confirms. */
  readonly keptMs: number
}): KnownKeys {
  const { now, callersKept, keptMs } = options
  const known = expiringMap<KnownKey>(now, callersKept)
  const unknown = expiringMap<true>(now, UNKNOWN_FOR_KNOWN * callersKept)
  const prolong = (entry: KnownKey) => known.set(entry.named.digest, entry, now() + keptMs)
  return {
    get: known.get,
    keep(named, caller, { expires_at, allowed_ips }) {
      const entry = {
        named,
        caller,
        expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
        allowedFrom: allowed_ips === null ? undefined : addressMatcher(allowed_ips),
        lookedAt: caller.confirmedAt,
      }
      prolong(entry)
      return entry
    },
    prolong,
    forget: ({ digest }) => known.delete(digest),
    isUnknown: (keyHash) => unknown.get(keyHash) === true,
    keepUnknown: (keyHash) => unknown.set(keyHash, true, now() + UNKNOWN_MS),
    forgetUnknown: (keyHash) => unknown.delete(keyHash),
    objection({ expiresAt, allowedFrom }, address) {
      if (expiresAt <= now()) return refusal('expired_api_key', 'The API key has expired.')
      if (!allowedFrom || allowedFrom(address)) return undefined
      const message = 'The API key may not be used from this address.'
      return new GatewayError('permission', message, { code: 'address_not_allowed' })
    },
  }
}
