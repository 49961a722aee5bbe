import type { CallDetail } from '../spend/call-detail.ts'
import type { CallFact, CallFacts, FactName } from '../spend/call-facts.ts'
import type { LatencySum } from '../spend/latency-sums.ts'
import type { SpendDimension, SpendSum } from '../spend/spend-sums.ts'
import type { Defaulted, Float8, Int4, Int8, Json, Timestamp } from './column-types.ts'

interface ColumnTypes {
  text: string
  timestamptz: Timestamp
  'text[]': string[]
  boolean: boolean
  integer: Int4
  bigint: Int8
  'double precision': Float8
}
type Column<Fact extends CallFact> = Fact extends { readonly nullable: true }
  ? ColumnTypes[Fact['type']] | null
  : Fact extends { readonly later: true }
    ? Defaulted<ColumnTypes[Fact['type']]>
    : ColumnTypes[Fact['type']]

type SpendFactColumns = { [Name in FactName]: Column<CallFacts[Name]> }

/** One finished model call. */
export interface GatewaySpendTable extends SpendFactColumns {
  detail: Json<CallDetail> | null
}

/** The dimensions of sums. */
type SpendDimensionColumns = { [Name in SpendDimension]: string }

/** Counts and sums of calls. */
type SpendSumColumns = {
  [Name in SpendSum]: Name extends FactName
    ? ColumnTypes[CallFacts[Name]['type']]
    : Name extends LatencySum
      ? Defaulted<Int4>
      : Int8
}

/** How often model calls of one kind were refused in a minute, as one process or isolate has counted. */
export interface GatewayRefusalTable {
  minute: Timestamp
  key_id: string
  team_id: string
  organization_id: string
  user_id: string
  endpoint: string
  code: string
  scope: string
  counter: string
  calls: Int8
}

export interface GatewaySpendTagTable {
  tag: string
  at: Timestamp
  call_id: string
}

export interface GatewaySpendPastTable {
  call_id: string
  noted_at: Defaulted<Timestamp>
}

export interface GatewayKeyUseTable {
  key_id: string
  last_used_at: Timestamp
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

export interface GatewaySpendServedTable extends SpendSumColumns {
  model: string
  provider: string
  deployment: string
  grain: 'hour' | 'day'
  bucket: Timestamp
}

export interface GatewaySpendRankingTable {
  dimension: string
  value: string
  ranked: 'key_id' | 'user_id'
  day: Timestamp
  calls: Int8
  ids: string[]
  costs_nano: string[]
}

export interface GatewaySpendKeyDayTable {
  day: Timestamp
  key_id: string
  cost_nano: Int8
}
