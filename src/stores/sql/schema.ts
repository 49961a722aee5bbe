import type { Generated } from 'kysely'

/** The tables of schema.sql, as queries see them. */
export interface Schema {
  gateway_schema: GatewaySchemaTable
  gateway_queue: GatewayQueueTable
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
