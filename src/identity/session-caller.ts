import type { Caller } from '../pipeline/caller.ts'
import type { SessionMethod } from '../stores/sql/people/session-records.ts'
import type { Permission } from './permissions.ts'
import type { PlatformRole } from './roles.ts'

/** The account of a session, as every request of the session sees it. */
export interface SessionAccount {
  readonly accountId: string
  readonly userId: string
  readonly email: string
  readonly role: PlatformRole
  readonly mfaEnabled: boolean
  readonly hasPassword: boolean
  readonly mustChangePassword: boolean
}

/** The permissions of a membership, and where they apply. */
export interface Grant {
  readonly scope: 'organization' | 'team'
  readonly id: string
  readonly name: string | null
  /** Of a team: the organization that it belongs to. */
  readonly organizationId: string | null
  readonly role: string
  readonly permissions: ReadonlySet<Permission>
}

/** Everything that a person may administer. */
export type Grants = 'everything' | readonly Grant[]

/** What a session must complete before it may administer, in this order:
 *  - `unverified`: the second factor was not proved in this session
 *  - `password_expired`: the password must be changed
 *  - `unenrolled`: a second factor is required, and the account has none */
export type SessionStanding = 'unverified' | 'password_expired' | 'unenrolled' | 'complete'

export interface Session {
  readonly sessionId: string
  readonly method: SessionMethod
  /** undefined: it was opened with the master key. */
  readonly account: SessionAccount | undefined
  readonly mfaVerified: boolean
  readonly standing: SessionStanding
  readonly grants: Grants
  /** ISO 8601. */
  readonly expiresAt: string
}

/** A session that was not opened with the master key. */
export type AccountSession = Session & { readonly account: SessionAccount }

/** The caller of a browser session. */
export interface SessionCaller extends Caller {
  readonly kind: 'session'
  readonly session: Session
}

export function isSession(caller: Caller): caller is SessionCaller {
  return caller.kind === 'session'
}
