import type { Defaulted, Float8, Int4, Int8, Timestamp } from './column-types.ts'

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
export interface GatewaySpendTable extends SpendDimensionColumns, SpendUsageColumns {
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

export interface GatewaySpendTagTable {
  tag: string
  at: Timestamp
  call_id: string
}

export interface GatewaySpendFoldTable {
  fold_id: string
  written_at: Defaulted<Timestamp>
}

export interface GatewaySpendFoldedTable extends SpendDimensionColumns, SpendSumColumns {
  fold_id: string
  shape: Int4
  hour: Timestamp
  tags: string[]
}

export interface GatewaySpendRollupTable extends SpendDimensionColumns, SpendSumColumns {
  grain: 'hour' | 'day'
  bucket: Timestamp
}

export interface GatewaySpendTagRollupTable extends SpendDimensionColumns, SpendSumColumns {
  tag: string
  grain: 'hour' | 'day'
  bucket: Timestamp
}

export interface GatewaySpendTotalTable extends SpendSumColumns {
  dimension: string
  value: string
  grain: 'hour' | 'day'
  bucket: Timestamp
}
