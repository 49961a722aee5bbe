import type { Account } from '../limits/accounts.ts'
import type { HeldVersion, Quota, RecordVersion, Slot } from '../stores/kv/shared-store.ts'
import type { CallerKind } from '../stores/sql/records/caller-records.ts'
import type { ContentCaller } from '../telemetry/content/content-door.ts'

/** A model or route group that callers may be permitted to call. */
export interface CallTarget {
  /** The model or route group. */
  readonly name: string
  /** The labels of its deployments. */
  readonly accessGroups: readonly string[]
}

/** The authenticated caller, with the permissions and limits that apply to it. */
export interface Caller extends ContentCaller {
  readonly kind: CallerKind
  readonly keyId: string | undefined
  readonly userId: string | undefined
  readonly teamId: string | undefined
  readonly organizationId: string | undefined
  /** In the order in which they are checked: organization, team, user, key. */
  readonly quotas: readonly Quota[]
  readonly slots: readonly Slot[]
  /** The accounts that a call is charged to, in the same order. */
  readonly accounts: readonly Account[]
  mayCall(target: CallTarget): boolean
  /** Whether the tools of the server with this key may be used. */
  mayUseServer(key: string): boolean
  /** Some models are, or may be, forbidden to the caller. */
  readonly restricted: boolean
  /** The versions of the records that the caller was read from. Admission rejects outdated ones. */
  readonly versions: readonly RecordVersion[]
  /** The versions to send when the reading is no longer recent. */
  readonly remembered: readonly HeldVersion[]
  /** When the records were read, in milliseconds since 1970. */
  readonly readAt: number
  /** When the database or the shared store last confirmed the versions. */
  confirmedAt: number
  /** Reads the caller again, bypassing every cache, for a request from this address. Throws the refusal if the
   *  credential is no longer valid. */
  again(address: string): Promise<Caller>
  /** Like `again`, for a caller whose versions are long unconfirmed because the shared store is away. If the database
   *  is away too, the caller stays valid for `identity_grace_seconds`. */
  confirmed(address: string): Promise<Caller>
}

/** What all callers but keys have in common: no limits, and no team. Administration uses up no key's requests. */
export const UNLIMITED = {
  keyId: undefined,
  teamId: undefined,
  organizationId: undefined,
  quotas: [],
  slots: [],
  accounts: [],
  mayCall: () => true,
  mayUseServer: () => true,
  restricted: false,
} as const satisfies Partial<Caller>

/** The owner of what a caller creates. The id of a removed team or key may be given again: in another organization it
 *  is another tenant. */
export interface Tenant {
  readonly name: string
  /** '' without one. */
  readonly organization: string
}

/** The caller's team, or the caller itself when it has none. */
export function tenantOf({
  kind,
  keyId,
  teamId,
  organizationId: organization = '',
}: Pick<Caller, 'kind' | 'keyId' | 'teamId' | 'organizationId'>): Tenant {
  if (teamId !== undefined) return { name: `team:${teamId}`, organization }
  return { name: keyId === undefined ? kind : `key:${keyId}`, organization }
}
