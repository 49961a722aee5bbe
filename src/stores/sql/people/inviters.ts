import { type RawBuilder, sql } from 'kysely'

/** Who may invite. */
export interface Inviters {
  readonly roles: readonly string[]
  /** In descending order: nobody invites into a role above their own. */
  readonly organizationRoles: readonly string[]
}

/** Whether the inviter of a row of gateway_invitation might still invite to there. The master key always might. */
export function mayStillInvite(invitation: string, { roles, organizationRoles }: Inviters): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${invitation}.${column}`)
  const rank = (role: RawBuilder<unknown>) => sql`array_position(${organizationRoles}::text[], ${role})`
  const held = sql`SELECT FROM gateway_membership AS held LEFT JOIN gateway_team AS place ON place.team_id = ${of('team_id')}
    WHERE held.user_id = inviter.user_id AND held.role = ANY(${roles}::text[])`
  return sql`(${of('invited_by')} IS NULL OR EXISTS (
    SELECT FROM gateway_account AS inviter
    WHERE inviter.account_id = ${of('invited_by')} AND inviter.state = 'active' AND (
      inviter.platform_role = 'platform_admin'
      OR coalesce(${of('organization_id')}, ${of('team_id')}) IS NOT NULL
        AND (${of('organization_id')} IS NULL OR EXISTS (${held}
          AND held.scope_type = 'organization' AND held.scope_id = ${of('organization_id')}
          AND ${rank(sql`held.role`)} <= ${rank(of('organization_role'))}))
        AND (${of('team_id')} IS NULL OR EXISTS (${held}
          AND held.scope_id = CASE held.scope_type WHEN 'team' THEN place.team_id ELSE place.organization_id END)))))`
}
