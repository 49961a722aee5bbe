import type { Account } from '../limits/accounts.ts'
import type { HeldVersion, Quota, RecordVersion, Slot } from '../stores/kv/shared-store.ts'

/** Something that a caller may be allowed to call. */
export interface CallTarget {
  /** The model or route group. */
  readonly name: string
  /** The labels of its deployments. */
  readonly accessGroups: readonly string[]
}

/** Who is calling, once a credential has been accepted, and what holds for them. */
export interface Caller {
  readonly kind: 'master_key' | 'api_key'
  readonly keyId: string | undefined
  readonly userId: string | undefined
  readonly teamId: string | undefined
  readonly organizationId: string | undefined
  /** In the order in which they refuse: organization, team, user, key. */
  readonly quotas: readonly Quota[]
  readonly slots: readonly Slot[]
  /** What a call's cost is charged to, in the same order. */
  readonly accounts: readonly Account[]
  mayCall(target: CallTarget): boolean
  /** There are, or may be, models that it may not call. */
  readonly restricted: boolean
  /** The records that this was read from. Admission refuses a caller that is out of date. */
  readonly versions: readonly RecordVersion[]
  /** The same, for when the reading is some time ago. */
  readonly remembered: readonly HeldVersion[]
  /** When they were read, in milliseconds since 1970. */
  readonly readAt: number
  /** When the database or the shared store last confirmed them. */
  confirmedAt: number
  /** Read again, past every cache, for a request from this address. Throws the refusal of a caller that is none any
   *  more. */
  again(address: string): Promise<Caller>
  /** The same for one that nobody has confirmed for long, while the shared store is away. Where the database is away, too,
   *  it is believed for `identity_grace_seconds`. */
  confirmed(address: string): Promise<Caller>
}

/** Who shares what a caller has made: its team, else itself. */
export function tenantOf({ kind, keyId, teamId }: Pick<Caller, 'kind' | 'keyId' | 'teamId'>): string {
  if (teamId !== undefined) return `team:${teamId}`
  return keyId === undefined ? kind : `key:${keyId}`
}
