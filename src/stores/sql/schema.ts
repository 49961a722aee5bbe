import type { Generated } from 'kysely'

/** The tables of schema.sql, as queries see them. */
export interface Schema {
  gateway_schema: GatewaySchemaTable
  gateway_queue: GatewayQueueTable
  gateway_revision: GatewayRevisionTable
  gateway_model: GatewayModelTable
  gateway_route_group: GatewayRouteGroupTable
}

/** Every version of schema.sql that was ever applied here. */
interface GatewaySchemaTable {
  version: string
  applied_at: Generated<string>
}

/** Work to be done later. A row is gone when the work is done, and kept with `dead_at` when it was given up. */
interface GatewayQueueTable {
  id: Generated<string>
  topic: string
  body: unknown
  attempts: Generated<number>
  /** When it may be taken next. Taking it moves this to the end of the taker's lease. */
  due_at: Generated<string>
  sent_at: Generated<string>
  dead_at: string | null
  last_error: string | null
}

/** How often a kind of record has changed. Isolates read theirs again when it moved. */
interface GatewayRevisionTable {
  subject: string
  revision: string
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
