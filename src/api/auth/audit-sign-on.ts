import type { Arrival } from '../../identity/single-sign-on/single-sign-on.ts'
import type { AuditDetails } from '../../telemetry/audit.ts'
import type { Scope } from '../scope.ts'

/** Audits a login through an identity provider, and what the first login of a person created or linked. */
export function auditSignOn(scope: Scope, { account, first }: Arrival, metadata: Record<string, unknown>): void {
  const { account_id: id } = account
  const person = { actor_type: 'account', actor_id: id, resource_id: id } satisfies AuditDetails
  scope.audits({ ...person, metadata })
  if (!first) return
  const { provider, email } = metadata
  const { outcome, role_before: before } = first
  if (outcome === 'linked') {
    const changes =
      before === account.platform_role ? {} : { platform_role: { old: before, new: account.platform_role } }
    scope.alsoAudits('account.sso_link', { ...person, metadata: { provider, email }, changes })
  }
  const { joined_organization, joined_team } = first
  if (outcome !== 'created' && !joined_organization && !joined_team) return
  const { default_org, default_team } = scope.services.config.general_settings.self_registration
  scope.alsoAudits('account.provision', {
    ...person,
    organization_id: joined_organization ? (default_org.id ?? null) : null,
    metadata: {
      provider,
      email,
      made_account: outcome === 'created',
      platform_role: account.platform_role,
      made_organization: first.organization_version !== null,
      made_team: first.team_version !== null,
      organization: joined_organization ? default_org.id : null,
      team: joined_team ? default_team.id : null,
    },
  })
}
