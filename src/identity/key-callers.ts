import { addressMatcher } from '../lib/addresses/address-range.ts'
import type { GatewayError } from '../lib/errors.ts'
import type { Caller } from '../pipeline/caller.ts'
import { expiringMap } from '../stores/kv/in-process/expiring-map.ts'
import type { CallerRecordsById } from '../stores/sql/records/caller-records.ts'
import { SqlError } from '../stores/sql/sql.ts'
import { callerOf } from './caller-of.ts'
import { masterCaller } from './master-caller.ts'
import { addressRefused, refusal } from './refusal.ts'

/** How old a reading may be. A change within this time is found by admission, which compares versions. */
const KEPT_MS = 20_000
const MOST_KEPT = 1000

/** Callers of keys by the keys' ids: for batches, and for people who use one of their keys through the console. */
export interface KeyCallers {
  /** The caller as its records are now. Rejects with the refusal if the key is revoked or expired, is no longer there,
   *  belongs to an account that is not active, or may not be used from the address. Without an address, as for batches,
   *  the address is not checked. */
  find(keyId: string, address?: string): Promise<Caller>
  /** The caller that created a batch: a key, or the master key by its kind. */
  orderer(keyId: string): Promise<Caller>
  /** The same, read from the database: for what no admission decides, which would compare the versions. */
  currentOrderer(keyId: string): Promise<Caller>
}

interface Known {
  readonly caller: Caller
  readonly expiresAt: number
  /** undefined allows every address. */
  readonly allowedFrom: ((address: string) => boolean) | undefined
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

  async function read(keyId: string, address: string | undefined): Promise<Caller> {
    known.delete(placeOf(keyId, address))
    const readAt = now()
    const record = await records.byKeyId(keyId)
    if (!record || record.key.revoked) throw refusal('invalid_api_key', 'The API key is not valid.')
    const caller = callerOf(record, {
      targetDefault,
      readAt,
      confirmedAt: readAt,
      again: (from) => read(keyId, address === undefined ? undefined : from),
      confirmed: (from) => confirmed(keyId, caller, address === undefined ? undefined : from),
    })
    const { expires_at, allowed_ips } = record.key
    const entry: Known = {
      caller,
      expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
      allowedFrom: allowed_ips === null ? undefined : addressMatcher(allowed_ips),
    }
    const refused = refusalOf(entry, address)
    if (refused) throw refused
    known.set(placeOf(keyId, address), entry, readAt + KEPT_MS)
    return caller
  }

  function refusalOf({ expiresAt, allowedFrom }: Known, address: string | undefined): GatewayError | undefined {
    if (expiresAt <= now()) return refusal('expired_api_key', 'The API key has expired.')
    return address !== undefined && allowedFrom?.(address) === false ? addressRefused() : undefined
  }

  async function confirmed(keyId: string, caller: Caller, address: string | undefined): Promise<Caller> {
    try {
      return await read(keyId, address)
    } catch (error) {
      const isAway = error instanceof SqlError && error.isAway
      if (isAway && now() - caller.confirmedAt < graceMs) return caller
      throw error
    }
  }

  async function find(keyId: string, address?: string): Promise<Caller> {
    const found = known.get(placeOf(keyId, address))
    // What refuses the key may have been changed since it was read: no admission compares the versions of a refusal.
    return found && !refusalOf(found, address) ? found.caller : read(keyId, address)
  }

  const ordererBy = (of: (keyId: string) => Promise<Caller>) => async (keyId: string) =>
    keyId === masterCaller.kind ? masterCaller : of(keyId)

  return { find, orderer: ordererBy(find), currentOrderer: ordererBy((keyId) => read(keyId, undefined)) }
}

/** The key of a cached caller: one that was checked for an address is another than one without. */
const placeOf = (keyId: string, address: string | undefined) => (address === undefined ? keyId : `at ${keyId}`)
