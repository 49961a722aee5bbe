import type { Defaulted, Int4, Json, Timestamp } from './column-types.ts'

type JsonObject = Record<string, unknown>

/** Named credentials of a provider, which deployments share. */
export interface GatewayCredentialTable {
  name: string
  provider: string
  /** As sent, with "[secret]" instead of secrets. */
  gateway_params: Json<JsonObject>
  sealed: string
  /** When its secrets changed last. */
  rotated_at: Defaulted<Timestamp>
  version: Defaulted<Int4>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** A deployment made through the admin API. */
export interface GatewayModelTable {
  deployment_id: string
  model_name: string
  /** The parameters as sent, with "[secret]" instead of secrets. */
  gateway_params: Json<JsonObject>
  model_info: Json<JsonObject>
  sealed: string
  credential: string | null
  version: Defaulted<Int4>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** A deployment that gets no new calls. */
export interface GatewayDrainedDeploymentTable {
  deployment_id: string
  drained_at: Defaulted<Timestamp>
}

/** A server of managed tools. */
export interface GatewayMcpServerTable {
  server_key: string
  /** As sent, with "[secret]" instead of secrets. */
  settings: Json<JsonObject>
  sealed: string
  version: Defaulted<Int4>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** A public name with members, which clients call like a model. */
export interface GatewayRouteGroupTable {
  name: string
  enabled: boolean
  members: Json<unknown>
  version: Defaulted<Int4>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** The published policy and the draft of a group. The key is a name, so that groups of the file can have policies
 *  too. */
export interface GatewayRouteGroupPolicyTable {
  group_name: string
  published: Json<JsonObject> | null
  /** The published version; 0 before the first one. */
  version: Defaulted<Int4>
  published_at: Timestamp | null
  restored_from: Int4 | null
  draft: Json<JsonObject> | null
  /** Rises with every draft. */
  draft_version: Defaulted<Int4>
  drafted_at: Timestamp | null
}

/** All versions that were published for a group. */
export interface GatewayRouteGroupPolicyVersionTable {
  group_name: string
  version: Int4
  policy: Json<JsonObject>
  restored_from: Int4 | null
  published_at: Defaulted<Timestamp>
  published_by: Defaulted<string>
}
