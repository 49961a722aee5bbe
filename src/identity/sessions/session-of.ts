import { type Caller, UNLIMITED } from '../../pipeline/caller.ts'
import type { StoredMembership, StoredSession } from '../../stores/sql/people/session-records.ts'
import { permissionsOf } from '../roles.ts'
import type { Grant, Grants, Session, SessionAccount, SessionCaller, SessionStanding } from '../session-caller.ts'

/** The accounts that must have a second factor. */
export type RequireMfa = false | 'admins' | 'everyone'

/** The names under which the shared store holds the current versions of a session's records. */
export const sessionRecord = (sessionId: string) => `session:${sessionId}`
export const accountRecord = (accountId: string) => `account:${accountId}`

/** The caller of a stored session. */
export function sessionCallerOf(
  stored: StoredSession,
  options: { readonly requireMfa: RequireMfa } & Pick<Caller, 'readAt' | 'confirmedAt' | 'again' | 'confirmed'>,
): SessionCaller {
  const { requireMfa, ...times } = options
  const versions = versionsOf(stored)
  return {
    ...UNLIMITED,
    kind: 'session',
    userId: stored.account?.user_id,
    versions,
    remembered: versions.map((version) => ({ ...version, remembered: true })),
    ...times,
    session: sessionOf(stored, requireMfa),
  }
}

function sessionOf(stored: StoredSession, requireMfa: RequireMfa): Session {
  const account = accountOf(stored)
  const grants = grantsOf(stored)
  return {
    sessionId: stored.session_id,
    method: stored.method,
    account,
    mfaVerified: stored.mfa_verified,
    standing: account ? standingOf(account, stored.mfa_verified, isRequired(requireMfa, grants)) : 'complete',
    grants,
    expiresAt: stored.expires_at,
  }
}

function accountOf({ account }: StoredSession): SessionAccount | undefined {
  return account
    ? {
        accountId: account.account_id,
        userId: account.user_id,
        email: account.email,
        role: account.platform_role,
        mfaEnabled: account.mfa_enabled,
        hasPassword: account.has_password,
        mustChangePassword: account.must_change_password,
      }
    : undefined
}

function standingOf(account: SessionAccount, mfaVerified: boolean, mfaRequired: boolean): SessionStanding {
  if (account.mfaEnabled && !mfaVerified) return 'unverified'
  if (account.mustChangePassword && account.hasPassword) return 'password_expired'
  return mfaRequired && !account.mfaEnabled ? 'unenrolled' : 'complete'
}

const ADMINISTRATORS: ReadonlySet<string> = new Set(['org_owner', 'org_admin', 'team_admin'])

/** Whether the account of these grants has to have a second factor. */
export function isRequired(requireMfa: RequireMfa, grants: Grants): boolean {
  if (requireMfa !== 'admins') return requireMfa === 'everyone'
  return grants === 'everything' || grants.some(({ role }) => ADMINISTRATORS.has(role))
}

function grantsOf({ account, memberships }: StoredSession): Grants {
  return account === null || account.platform_role === 'platform_admin' ? 'everything' : memberships.map(grantOf)
}

function grantOf({ scope, id, name, organization_id, role }: StoredMembership): Grant {
  return { scope, id, name, organizationId: organization_id, role, permissions: permissionsOf(role) }
}

function versionsOf({ session_id, version, account, memberships }: StoredSession) {
  const own = [{ record: sessionRecord(session_id), version: Number(version) }]
  if (!account) return own
  return [
    ...own,
    { record: accountRecord(account.account_id), version: account.version },
    { record: `user:${account.user_id}`, version: account.user_version },
    ...memberships.map(({ scope, id, version: of }) => ({
      record: `${scope === 'team' ? 'team' : 'org'}:${id}`,
      version: of,
    })),
  ]
}
