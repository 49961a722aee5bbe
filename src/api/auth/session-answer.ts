import * as z from 'zod'
import { PERMISSIONS } from '../../identity/permissions.ts'
import { PLATFORM_ROLES } from '../../identity/roles.ts'
import type { Grant, Session } from '../../identity/session-caller.ts'
import { lazily } from '../../lib/lazily.ts'
import { pagesOf } from './pages.ts'

const permissions = () => z.array(z.enum(PERMISSIONS))
const place = () => ({ id: z.string(), name: z.string().nullable(), role: z.string(), permissions: permissions() })

/** A session as its own page sees it. */
export const sessionAnswer = lazily(() =>
  z.object({
    authenticated: z.literal(true),
    account_id: z.string().nullable().describe('null: the session acts as the master key.'),
    user_id: z.string().nullable(),
    email: z.string().nullable(),
    role: z.enum(PLATFORM_ROLES),
    method: z.string().describe('How it was opened: password, sso, master_key, invitation or bootstrap.'),
    has_password: z.boolean(),
    mfa_enabled: z.boolean(),
    mfa_verified: z.boolean(),
    must_change_password: z.boolean(),
    standing: z
      .enum(['unverified', 'password_expired', 'unenrolled', 'complete'])
      .describe(
        'What the session still requires: the second factor, a new password, the setup of a second factor; or complete.',
      ),
    session_id: z.string(),
    expires_at: z.iso.datetime(),
    permissions: permissions().describe('The permissions that apply everywhere.'),
    organizations: z.array(z.object(place())),
    teams: z.array(z.object({ ...place(), organization_id: z.string().nullable() })),
    pages: z.array(z.string()).describe('The pages of the console that the person may open.'),
  }),
)

export function answerOf(session: Session): z.output<ReturnType<typeof sessionAnswer>> {
  const { account, grants, standing } = session
  // Before it is complete, a session shows nothing of what it will reach.
  const reached = standing === 'complete' ? grants : []
  const of = (scope: Grant['scope']) => (reached === 'everything' ? [] : reached.filter((one) => one.scope === scope))
  const placeOf = ({ id, name, role, permissions: granted }: Grant) => ({ id, name, role, permissions: [...granted] })
  return {
    authenticated: true,
    account_id: account?.accountId ?? null,
    user_id: account?.userId ?? null,
    email: account?.email ?? null,
    role: account?.role ?? 'platform_admin',
    method: session.method,
    has_password: account?.hasPassword ?? false,
    mfa_enabled: account?.mfaEnabled ?? false,
    mfa_verified: session.mfaVerified,
    must_change_password: account?.mustChangePassword ?? false,
    standing,
    session_id: session.sessionId,
    expires_at: session.expiresAt,
    permissions: reached === 'everything' ? [...PERMISSIONS] : [],
    organizations: of('organization').map(placeOf),
    teams: of('team').map((grant) => ({ ...placeOf(grant), organization_id: grant.organizationId })),
    pages: standing === 'complete' ? pagesOf(grants) : [],
  }
}
