import { type RawBuilder, sql } from 'kysely'
import { batchOf, rowsOf } from '../query.ts'
import { NEXT_VERSION } from '../records/scope-records.ts'
import type { Sql } from '../sql.ts'
import { ACCOUNT_TURN } from './account-turn.ts'
import type { InvitedAccess } from './invitation-records.ts'
import { type Inviters, mayStillInvite } from './inviters.ts'

/** An invitation that can be accepted, as the holder of its token sees it. */
export interface OpenInvitation extends InvitedAccess {
  readonly email: string
  readonly organization_name: string | null
  readonly team_name: string | null
  readonly expires_at: string
  /** The person cannot sign in yet, and has to set a password. */
  readonly password_required: boolean
}

export interface Acceptance {
  readonly tokenHash: string
  /** For the account that is created if the person has none. */
  readonly accountId: string
  readonly userId: string
  /** Stored only if it is required. */
  readonly passwordHash: string | null
  /** Roles in descending order; a member keeps a higher one. */
  readonly organizationRoles: readonly string[]
  readonly teamRoles: readonly string[]
}

/** An accepted invitation. */
export interface AcceptedInvitation extends InvitedAccess {
  readonly invitation_id: string
  /** Its link was sent by e-mail alone, so that its holder can read the person's mail. */
  readonly by_mail: boolean
  readonly team_organization_id: string | null
  readonly account_id: string
  readonly user_id: string
  readonly account_version: string
  readonly user_version: string
  readonly is_new: boolean
  /** The password was stored. */
  readonly password_set: boolean
  readonly has_password: boolean
  readonly mfa_enabled: boolean
  /** New memberships and raised roles. */
  readonly granted: readonly { readonly scope: 'organization' | 'team'; readonly id: string; readonly role: string }[]
}

/** Accepts invitations. One that was used, cancelled, removed, expired, whose inviter may no longer invite to there, or whose
 *  account is disabled is like one that never existed. */
export interface InvitationAcceptance {
  inspect(tokenHash: string): Promise<OpenInvitation | undefined>
  /** Uses the token and grants everything in one step: one of several simultaneous acceptances succeeds. undefined if it
   *  cannot be accepted, or requires a password. */
  accept(acceptance: Acceptance): Promise<AcceptedInvitation | undefined>
}

/** The acceptance may set an existing account's password only if its token was sent to the account's address alone. */
const NEEDS_PASSWORD = sql<boolean>`(account.password_hash IS NULL AND invitation.email_id IS NOT NULL AND NOT EXISTS (
  SELECT FROM gateway_account_identity AS identity WHERE identity.account_id = account.account_id))`

export function invitationAcceptance(database: Sql, inviters: Inviters): InvitationAcceptance {
  const isOpen = (tokenHash: string) => sql`invitation.token_hash = ${tokenHash} AND invitation.state = 'pending'
    AND invitation.expires_at > now() AND ${mayStillInvite('invitation', inviters)}`
  return {
    async inspect(tokenHash) {
      const [row] = await rowsOf(
        database,
        sql<OpenInvitation>`
          SELECT invitation.email, invitation.organization_id, organization.organization_name,
            invitation.organization_role, invitation.team_id, team.team_name, invitation.team_role,
            invitation.expires_at,
            account.account_id IS NULL OR ${NEEDS_PASSWORD} AS password_required
          FROM gateway_invitation AS invitation
            LEFT JOIN gateway_organization AS organization USING (organization_id)
            LEFT JOIN gateway_team AS team ON team.team_id = invitation.team_id
            LEFT JOIN gateway_account AS account USING (email_key)
          WHERE ${isOpen(tokenHash)} AND account.state IS DISTINCT FROM 'disabled'`,
      )
      return row
    },
    async accept(acceptance) {
      const rows = await batchOf(database, [
        ...turns(acceptance.tokenHash),
        acceptanceOf(acceptance, isOpen(acceptance.tokenHash)),
      ])
      return (rows.at(-1) as AcceptedInvitation[])[0]
    },
  }
}

/** The locks of an acceptance: on changes of accounts, on the person's memberships, and on the organization and team of
 *  the invitation. A statement sees the state at its beginning, so that the acceptance must begin after it has the
 *  locks. */
function turns(tokenHash: string): RawBuilder<unknown>[] {
  const invitation = sql`SELECT FROM gateway_invitation AS invitation WHERE invitation.token_hash = ${tokenHash}`
  return [
    ACCOUNT_TURN,
    sql`SELECT FROM gateway_user AS "user" WHERE EXISTS (
        SELECT FROM gateway_account AS account JOIN gateway_invitation AS invitation USING (email_key)
        WHERE account.user_id = "user".user_id AND invitation.token_hash = ${tokenHash})
      FOR NO KEY UPDATE`,
    sql`SELECT FROM gateway_organization AS organization
      WHERE EXISTS (${invitation} AND invitation.organization_id = organization.organization_id) FOR KEY SHARE`,
    sql`SELECT FROM gateway_team AS team
      WHERE EXISTS (${invitation} AND invitation.team_id = team.team_id) FOR KEY SHARE`,
  ]
}

function acceptanceOf(
  { accountId, userId, passwordHash, ...roles }: Acceptance,
  isOpen: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { organizationRoles, teamRoles } = roles
  const hash = sql`${passwordHash}::text`
  const might = (role: RawBuilder<unknown>) =>
    sql`array_position(CASE member.scope_type WHEN 'team' THEN ${teamRoles}::text[] ELSE ${organizationRoles}::text[] END,
      ${role})`
  return sql<AcceptedInvitation>`
    WITH invitation AS (
      SELECT invitation.*, team.organization_id AS team_organization_id
      FROM gateway_invitation AS invitation LEFT JOIN gateway_team AS team ON team.team_id = invitation.team_id
      WHERE ${isOpen} FOR UPDATE OF invitation
    ),
    existing AS (
      SELECT account.*, ${NEEDS_PASSWORD} AS needs_password
      FROM gateway_account AS account JOIN invitation USING (email_key)
    ),
    made AS (
      INSERT INTO gateway_account
        (account_id, user_id, email, email_key, email_proved, platform_role, password_hash, password_changed_at)
      SELECT ${accountId}, ${userId}, invitation.email, invitation.email_key, invitation.email_id IS NOT NULL, 'org_user', ${hash}, now()
      FROM invitation WHERE ${hash} IS NOT NULL AND NOT EXISTS (SELECT FROM existing)
      ON CONFLICT (email_key) DO NOTHING
      RETURNING account_id, user_id, email, version
    ),
    person AS (
      INSERT INTO gateway_user (user_id, user_email) SELECT user_id, email FROM made RETURNING user_id, version
    ),
    armed AS (
      UPDATE gateway_account AS account SET password_hash = ${hash}, password_changed_at = now(),
        must_change_password = false, email_proved = true, version = ${NEXT_VERSION}, updated_at = now()
      FROM existing WHERE account.account_id = existing.account_id AND existing.state = 'active' AND existing.needs_password
        AND ${hash} IS NOT NULL
      RETURNING account.account_id, account.version
    ),
    account AS (
      SELECT account_id, user_id, version, true AS is_new, true AS password_set, true AS has_password, false AS mfa_enabled FROM made
      UNION ALL
      SELECT existing.account_id, existing.user_id, coalesce(armed.version, existing.version), false,
        armed.version IS NOT NULL, existing.password_hash IS NOT NULL OR armed.version IS NOT NULL, existing.totp_confirmed_at IS NOT NULL
      FROM existing LEFT JOIN armed USING (account_id)
      WHERE existing.state = 'active' AND (NOT existing.needs_password OR armed.version IS NOT NULL)
    ),
    used AS (
      UPDATE gateway_invitation AS record
      SET state = 'accepted', accepted_by = account.account_id, accepted_at = now(), updated_at = now()
      FROM invitation, account WHERE record.invitation_id = invitation.invitation_id
      RETURNING record.invitation_id
    ),
    given AS (
      SELECT 'organization' AS scope_type, organization_id AS scope_id, organization_role AS role
      FROM invitation JOIN used USING (invitation_id) WHERE organization_id IS NOT NULL
      UNION ALL
      SELECT 'team', team_id, team_role FROM invitation JOIN used USING (invitation_id) WHERE team_id IS NOT NULL
    ),
    member AS (
      INSERT INTO gateway_membership AS member (scope_type, scope_id, user_id, role)
      SELECT given.scope_type, given.scope_id, account.user_id, given.role FROM given, account
      ON CONFLICT (scope_type, scope_id, user_id) DO UPDATE SET role = excluded.role
        WHERE ${might(sql`excluded.role`)} < coalesce(${might(sql`member.role`)}, 1000)
      RETURNING member.scope_type, member.scope_id, member.role
    ),
    known AS (
      UPDATE gateway_user AS "user" SET version = ${NEXT_VERSION}, updated_at = now() FROM account, used
      WHERE "user".user_id = account.user_id AND NOT account.is_new
      RETURNING "user".user_id, "user".version
    )
    SELECT invitation.invitation_id, invitation.email_id IS NOT NULL AS by_mail, invitation.organization_id,
      invitation.organization_role, invitation.team_id, invitation.team_role, invitation.team_organization_id,
      account.account_id, account.user_id, account.version AS account_version, account.is_new, account.password_set, account.has_password,
      account.mfa_enabled, coalesce(known.version, person.version) AS user_version,
      (SELECT coalesce(json_agg(json_build_object('scope', scope_type, 'id', scope_id, 'role', role)), '[]') FROM member)
        AS granted
    FROM invitation JOIN used USING (invitation_id) CROSS JOIN account LEFT JOIN known USING (user_id)
      LEFT JOIN person USING (user_id)`
}
