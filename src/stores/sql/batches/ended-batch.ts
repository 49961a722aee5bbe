import { sql } from 'kysely'

/** A batch that has just ended. */
export interface EndedBatch {
  readonly batch_id: string
  readonly status: 'completed' | 'failed' | 'expired' | 'cancelled'
  readonly endpoint: string
  readonly key_id: string
  readonly team_id: string | null
  readonly organization_id: string | null
  readonly user_id: string | null
  readonly requests: number
  readonly completed: number
  readonly failed: number
  readonly cost_nano: number
  readonly created_at: string
}

/** Its columns, as the statement that ends it returns them. */
export const endedBatch = sql`batch_id, status, endpoint, key_id, team_id, organization_id, user_id, requests, completed,
  failed, cost_nano::float8 AS cost_nano, created_at`
