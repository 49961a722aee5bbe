import type {
  GatewayBatchBlobTable,
  GatewayBatchItemTable,
  GatewayBatchResultTable,
  GatewayBatchTable,
  GatewayFileTable,
} from './batch-schema.ts'
import type { Defaulted, Given, Int4, Int8, Json, Numeric, Timestamp } from './column-types.ts'
import type {
  GatewayAccountIdentityTable,
  GatewayAccountTable,
  GatewayEmailTable,
  GatewayInvitationTable,
  GatewayPasswordResetTable,
  GatewayRecoveryCodeTable,
  GatewaySessionTable,
} from './people-schema.ts'
import type { GatewayPromptTable, GatewayPromptVersionTable } from './prompt-schema.ts'
import type {
  GatewayCredentialTable,
  GatewayDrainedDeploymentTable,
  GatewayMcpServerTable,
  GatewayModelTable,
  GatewayRouteGroupPolicyTable,
  GatewayRouteGroupPolicyVersionTable,
  GatewayRouteGroupTable,
} from './routing-schema.ts'
import type {
  GatewayKeyUseTable,
  GatewayRefusalTable,
  GatewaySpendFoldedTable,
  GatewaySpendFoldTable,
  GatewaySpendKeyDayTable,
  GatewaySpendPastTable,
  GatewaySpendRankingTable,
  GatewaySpendRollupTable,
  GatewaySpendServedTable,
  GatewaySpendTable,
  GatewaySpendTagRollupTable,
  GatewaySpendTagTable,
  GatewaySpendTotalTable,
} from './spend-schema.ts'

/** Every table of schema.sql as queries see it. A test compares it with a fresh database. */
export interface Schema {
  gateway_schema: GatewaySchemaTable
  gateway_installation: GatewayInstallationTable
  gateway_queue: GatewayQueueTable
  gateway_revision: GatewayRevisionTable
  gateway_credential: GatewayCredentialTable
  gateway_model: GatewayModelTable
  gateway_drained_deployment: GatewayDrainedDeploymentTable
  gateway_mcp_server: GatewayMcpServerTable
  gateway_route_group: GatewayRouteGroupTable
  gateway_route_group_policy: GatewayRouteGroupPolicyTable
  gateway_route_group_policy_version: GatewayRouteGroupPolicyVersionTable
  gateway_prompt: GatewayPromptTable
  gateway_prompt_version: GatewayPromptVersionTable
  gateway_organization: GatewayOrganizationTable
  gateway_team: GatewayTeamTable
  gateway_user: GatewayUserTable
  gateway_membership: GatewayMembershipTable
  gateway_key: GatewayKeyTable
  gateway_key_notice: GatewayKeyNoticeTable
  gateway_account: GatewayAccountTable
  gateway_account_identity: GatewayAccountIdentityTable
  gateway_recovery_code: GatewayRecoveryCodeTable
  gateway_session: GatewaySessionTable
  gateway_password_reset: GatewayPasswordResetTable
  gateway_invitation: GatewayInvitationTable
  gateway_email: GatewayEmailTable
  gateway_callable_binding: GatewayCallableBindingTable
  gateway_budget: GatewayBudgetTable
  gateway_backfill: GatewayBackfillTable
  gateway_refusal: GatewayRefusalTable
  gateway_spend: GatewaySpendTable
  gateway_spend_tag: GatewaySpendTagTable
  gateway_spend_past: GatewaySpendPastTable
  gateway_key_use: GatewayKeyUseTable
  gateway_spend_fold: GatewaySpendFoldTable
  gateway_spend_folded: GatewaySpendFoldedTable
  gateway_spend_rollup: GatewaySpendRollupTable
  gateway_spend_tag_rollup: GatewaySpendTagRollupTable
  gateway_spend_total: GatewaySpendTotalTable
  gateway_spend_served: GatewaySpendServedTable
  gateway_spend_key_day: GatewaySpendKeyDayTable
  gateway_spend_ranking: GatewaySpendRankingTable
  gateway_audit_event: GatewayAuditEventTable
  gateway_dead_letter: GatewayDeadLetterTable
  gateway_file: GatewayFileTable
  gateway_batch: GatewayBatchTable
  gateway_batch_blob: GatewayBatchBlobTable
  gateway_batch_item: GatewayBatchItemTable
  gateway_batch_result: GatewayBatchResultTable
}

type JsonObject = Record<string, unknown>

interface GatewaySchemaTable {
  version: string
  applied_at: Defaulted<Timestamp>
}

interface GatewayInstallationTable {
  name: string
  value: string
}

interface GatewayQueueTable {
  id: Given<Int8>
  topic: string
  body: Json<unknown>
  attempts: Defaulted<Int4>
  due_at: Defaulted<Timestamp>
  sent_at: Defaulted<Timestamp>
  dead_at: Timestamp | null
  last_error: string | null
}

interface GatewayRevisionTable {
  subject: string
  revision: Int8
}

/** The limits of a scope: five windows, and budgets. */
export interface LimitColumns {
  rpm_limit: Int8 | null
  tpm_limit: Int8 | null
  rph_limit: Int8 | null
  rpd_limit: Int8 | null
  tpd_limit: Int8 | null
  max_budget: Numeric | null
  soft_budget: Numeric | null
  budget_duration: string | null
  budget_started_at: Defaulted<Timestamp>
}

/** The common columns of all records that callers are built from. */
interface ScopeColumns extends LimitColumns {
  target_mode: 'inherit' | 'restrict' | null
  metadata: Defaulted<Json<JsonObject>>
  version: Defaulted<Int8>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

interface GatewayOrganizationTable extends ScopeColumns {
  organization_id: string
  organization_name: string | null
}

interface GatewayTeamTable extends ScopeColumns {
  team_id: string
  team_name: string | null
  organization_id: string | null
  model_max_budget: Defaulted<Json<Record<string, number>>>
  self_service_keys_enabled: Defaulted<boolean>
  self_service_max_keys_per_user: Int4 | null
  self_service_budget_ceiling: Numeric | null
  self_service_require_expiry: Defaulted<boolean>
  self_service_max_expiry_days: Int4 | null
  turn_off_message_logging: Defaulted<boolean>
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
  created_at: Defaulted<Timestamp>
}

interface GatewayKeyTable extends ScopeColumns {
  key_id: string
  key_hash: string
  key_name: string | null
  team_id: string | null
  organization_id: string | null
  user_id: string | null
  owner_account_id: string | null
  max_parallel_requests: Int8 | null
  model_max_budget: Defaulted<Json<Record<string, number>>>
  allowed_ips: Json<string[]> | null
  turn_off_message_logging: Defaulted<boolean>
  no_log_allowed: Defaulted<boolean>
  expires_at: Timestamp | null
  revoked_at: Timestamp | null
}

interface GatewayCallableBindingTable {
  scope_type: 'organization' | 'team' | 'user' | 'api_key'
  scope_id: string
  callable_kind: Defaulted<'target' | 'access_group' | 'mcp_server'>
  callable_key: string
  enabled: Defaulted<boolean>
  binding_id: string
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** The spend of a budget in one period, in nano-dollars. */
interface GatewayBudgetTable {
  subject: string
  period: string
  spent_nano: Defaulted<Numeric>
  /** The limits of which operators were told last. */
  told_soft_nano: Numeric | null
  told_exceeded_nano: Numeric | null
}

/** The progress of filling a new table with earlier calls. */
interface GatewayBackfillTable {
  target: 'gateway_spend_total' | 'gateway_spend_tag' | 'gateway_spend_key_day' | 'gateway_spend_served'
  begun_at: Defaulted<Timestamp>
  filled_to: Timestamp | null
  filled_at: Timestamp | null
}

/** Events of the administration and of accounts, refused ones included. */
interface GatewayAuditEventTable {
  event_id: string
  occurred_at: Timestamp
  actor_type: string
  actor_id: string | null
  organization_id: string | null
  action: string
  resource_type: string
  resource_id: string | null
  request_id: string
  ip: string | null
  user_agent: string | null
  status: Int4
  changes: Json<Record<string, { old: unknown; new: unknown }>>
  metadata: Json<JsonObject>
}

/** Which notices of a key's expiry were sent. */
interface GatewayKeyNoticeTable {
  key_id: string
  expires_at: Timestamp
  days: Int4
}

/** A record of the ledger or the audit that the database refused. */
interface GatewayDeadLetterTable {
  letter_id: string
  topic: string
  body: Json<JsonObject>
  error: string
  died_at: Defaulted<Timestamp>
}
