import type { ColumnType, InsertType, SelectType, UpdateType } from 'kysely'

/** Every table of schema.sql as queries see it. A test compares it with a fresh database. */
export interface Schema {
  gateway_schema: GatewaySchemaTable
  gateway_installation: GatewayInstallationTable
  gateway_queue: GatewayQueueTable
  gateway_revision: GatewayRevisionTable
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
  gateway_budget: GatewayBudgetTable
  gateway_backfill: GatewayBackfillTable
  gateway_spend: GatewaySpendTable
  gateway_spend_tag: GatewaySpendTagTable
  gateway_spend_fold: GatewaySpendFoldTable
  gateway_spend_folded: GatewaySpendFoldedTable
  gateway_spend_rollup: GatewaySpendRollupTable
  gateway_spend_tag_rollup: GatewaySpendTagRollupTable
  gateway_spend_total: GatewaySpendTotalTable
  gateway_audit_event: GatewayAuditEventTable
}

/** int8 and numeric are read as text and written as either. */
type Int8 = ColumnType<string, string | number, string | number>
type Numeric = ColumnType<string, string | number, string | number>
type Int4 = number
type Float8 = number
/** ISO 8601 in UTC. */
type Timestamp = string
/** Read as what it holds. A list is written as its JSON text: an adapter takes an array for an array of SQL. */
type Json<Value> = ColumnType<Value, JsonInput<Value>, JsonInput<Value>>
type JsonInput<Value> = string | (Value extends readonly unknown[] ? never : Value)
/** What the database fills in where an insert leaves it out. */
type Defaulted<Type> = ColumnType<SelectType<Type>, InsertType<Type> | undefined, UpdateType<Type>>
/** What the database alone gives. */
type Given<Type> = ColumnType<SelectType<Type>, never, never>

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

/** A deployment made through the admin API. */
interface GatewayModelTable {
  deployment_id: string
  model_name: string
  /** As it was sent, with "[secret]" in the place of secrets. */
  gateway_params: Json<JsonObject>
  model_info: Json<JsonObject>
  sealed: string
  version: Defaulted<Int4>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** A name that clients call like a model. */
interface GatewayRouteGroupTable {
  name: string
  enabled: boolean
  members: Json<unknown>
  version: Defaulted<Int4>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** What limits a scope: five windows and money. */
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

/** What every record that a caller is built from has. */
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
  expires_at: Timestamp | null
  revoked_at: Timestamp | null
}

interface GatewayCallableBindingTable {
  scope_type: 'organization' | 'team' | 'user' | 'api_key'
  scope_id: string
  callable_kind: Defaulted<'target' | 'access_group'>
  callable_key: string
  enabled: Defaulted<boolean>
  binding_id: string
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** What holds for the calls of one group, and what is to. By name: also of groups that only the file has. */
interface GatewayRouteGroupPolicyTable {
  group_name: string
  published: Json<JsonObject> | null
  /** Of what is published; 0 before anything was. */
  version: Defaulted<Int4>
  published_at: Timestamp | null
  restored_from: Int4 | null
  draft: Json<JsonObject> | null
  /** Rises with every draft. */
  draft_version: Defaulted<Int4>
  drafted_at: Timestamp | null
}

/** Everything that was ever published for a group. */
interface GatewayRouteGroupPolicyVersionTable {
  group_name: string
  version: Int4
  policy: Json<JsonObject>
  restored_from: Int4 | null
  published_at: Defaulted<Timestamp>
}

/** What a budget has spent in one of its periods, in nano-dollars. */
interface GatewayBudgetTable {
  subject: string
  period: string
  spent_nano: Defaulted<Numeric>
}

/** How far a table has what was there before it. */
interface GatewayBackfillTable {
  target: 'gateway_spend_total' | 'gateway_spend_tag'
  begun_at: Defaulted<Timestamp>
  filled_to: Timestamp | null
  filled_at: Timestamp | null
}

/** Whose calls, and of what. */
interface SpendDimensionColumns {
  key_id: string
  user_id: string
  team_id: string
  organization_id: string
  model: string
  provider: string
  deployment: string
}

/** What is measured of a call, and summed up. */
interface SpendUsageColumns {
  input_tokens: Int8
  output_tokens: Int8
  cached_input_tokens: Int8
  cache_creation_input_tokens: Int8
  reasoning_tokens: Int8
  images: Int8
  audio_seconds: Float8
  characters: Int8
  rerank_units: Int8
  saved_nano: Int8
  total_ms: Float8
}

interface SpendSumColumns extends SpendUsageColumns {
  calls: Int8
  failed_calls: Int8
  cached_calls: Int8
  estimated_calls: Int8
  unpriced_calls: Int8
  cost_nano: Int8
}

/** One model call, however it ended. */
interface GatewaySpendTable extends SpendDimensionColumns, SpendUsageColumns {
  call_id: string
  at: Timestamp
  request_id: string
  endpoint: string
  mode: string
  requested_model: string
  tags: string[]
  streamed: boolean
  ending: string
  status: Int4
  error_type: string
  cache: string
  attempts: Int4
  rescued: Int4
  estimated: boolean
  /** null: the price was unknown. */
  cost_nano: Int8 | null
  overhead_ms: Float8
  first_token_ms: Float8 | null
  upstream_ms: Float8 | null
}

interface GatewaySpendTagTable {
  tag: string
  at: Timestamp
  call_id: string
}

interface GatewaySpendFoldTable {
  fold_id: string
  written_at: Defaulted<Timestamp>
}

interface GatewaySpendFoldedTable extends SpendDimensionColumns, SpendSumColumns {
  fold_id: string
  shape: Int4
  hour: Timestamp
  tags: string[]
}

interface GatewaySpendRollupTable extends SpendDimensionColumns, SpendSumColumns {
  grain: 'hour' | 'day'
  bucket: Timestamp
}

interface GatewaySpendTagRollupTable extends SpendDimensionColumns, SpendSumColumns {
  tag: string
  grain: 'hour' | 'day'
  bucket: Timestamp
}

interface GatewaySpendTotalTable extends SpendSumColumns {
  dimension: string
  value: string
  grain: 'hour' | 'day'
  bucket: Timestamp
}

/** What was done, or tried, in the administration and with accounts. */
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
