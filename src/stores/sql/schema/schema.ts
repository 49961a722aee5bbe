import type { Generated } from 'kysely'

/** The tables of schema.sql whose rows are records of the admin API, as queries see them. */
export interface Schema {
  gateway_model: GatewayModelTable
  gateway_route_group: GatewayRouteGroupTable
  gateway_route_group_policy: GatewayRouteGroupPolicyTable
  gateway_route_group_policy_version: GatewayRouteGroupPolicyVersionTable
  gateway_organization: GatewayOrganizationTable
  gateway_team: GatewayTeamTable
  gateway_user: GatewayUserTable
  gateway_membership: GatewayMembershipTable
  gateway_key: GatewayKeyTable
  gateway_callable_binding: GatewayCallableBindingTable
}

/** A deployment made through the admin API. */
interface GatewayModelTable {
  deployment_id: string
  model_name: string
  /** As it was sent, with "[secret]" in the place of secrets. */
  gateway_params: Record<string, unknown>
  model_info: Record<string, unknown>
  sealed: string
  version: Generated<number>
  created_at: Generated<string>
  updated_at: Generated<string>
}

/** A name that clients call like a model. */
interface GatewayRouteGroupTable {
  name: string
  enabled: boolean
  members: unknown
  version: Generated<number>
  created_at: Generated<string>
  updated_at: Generated<string>
}

/** What limits a scope: five windows and money. int8 and numeric are text on the wire. */
export interface LimitColumns {
  rpm_limit: string | null
  tpm_limit: string | null
  rph_limit: string | null
  rpd_limit: string | null
  tpd_limit: string | null
  max_budget: string | null
  soft_budget: string | null
  budget_duration: string | null
  budget_started_at: Generated<string>
}

/** What every record that a caller is built from has. */
interface ScopeColumns extends LimitColumns {
  target_mode: 'inherit' | 'restrict' | null
  metadata: Generated<Record<string, unknown>>
  version: Generated<string>
  created_at: Generated<string>
  updated_at: Generated<string>
}

interface GatewayOrganizationTable extends ScopeColumns {
  organization_id: string
  organization_name: string | null
}

interface GatewayTeamTable extends ScopeColumns {
  team_id: string
  team_name: string | null
  organization_id: string | null
  model_max_budget: Generated<Record<string, number>>
  self_service_keys_enabled: Generated<boolean>
  self_service_max_keys_per_user: number | null
  self_service_budget_ceiling: string | null
  self_service_require_expiry: Generated<boolean>
  self_service_max_expiry_days: number | null
}

/** The user of the running gateway. Its `user_role` is profile metadata. */
interface GatewayUserTable extends ScopeColumns {
  user_id: string
  user_email: string | null
  user_name: string | null
  user_role: string | null
}

interface GatewayMembershipTable {
  scope_type: 'organization' | 'team'
  scope_id: string
  user_id: string
  role: string
  created_at: Generated<string>
}

interface GatewayKeyTable extends ScopeColumns {
  key_id: string
  key_hash: string
  key_name: string | null
  team_id: string | null
  organization_id: string | null
  user_id: string | null
  owner_account_id: string | null
  max_parallel_requests: string | null
  model_max_budget: Generated<Record<string, number>>
  allowed_ips: string[] | null
  expires_at: string | null
  revoked_at: string | null
}

interface GatewayCallableBindingTable {
  scope_type: 'organization' | 'team' | 'user' | 'api_key'
  scope_id: string
  callable_kind: Generated<'target' | 'access_group'>
  callable_key: string
  enabled: Generated<boolean>
  binding_id: string
  created_at: Generated<string>
  updated_at: Generated<string>
}

/** What holds for the calls of one group, and what is to. By name: also of groups that only the file has. */
interface GatewayRouteGroupPolicyTable {
  group_name: string
  published: Record<string, unknown> | null
  /** Of what is published; 0 before anything was. */
  version: Generated<number>
  published_at: string | null
  restored_from: number | null
  draft: Record<string, unknown> | null
  /** Rises with every draft. */
  draft_version: Generated<number>
  drafted_at: string | null
}

/** Everything that was ever published for a group. */
interface GatewayRouteGroupPolicyVersionTable {
  group_name: string
  version: number
  policy: Record<string, unknown>
  restored_from: number | null
  published_at: Generated<string>
}
