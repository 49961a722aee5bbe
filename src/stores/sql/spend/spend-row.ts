/** One model call as the ledger keeps it. Money is integer nano-dollars; null is a price that nobody knows. */
export interface SpendRow {
  readonly call_id: string
  readonly at: string
  readonly request_id: string
  readonly endpoint: string
  readonly mode: string
  readonly requested_model: string
  readonly model: string
  readonly deployment: string
  readonly provider: string
  readonly key_id: string
  readonly team_id: string
  readonly organization_id: string
  readonly user_id: string
  readonly tags: readonly string[]
  readonly streamed: boolean
  readonly ending: string
  readonly status: number
  readonly error_type: string
  readonly cache: string
  readonly attempts: number
  readonly rescued: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly reasoning_tokens: number
  readonly images: number
  readonly audio_seconds: number
  readonly characters: number
  readonly rerank_units: number
  readonly estimated: boolean
  readonly cost_nano: number | null
  readonly saved_nano: number
  readonly overhead_ms: number
  readonly first_token_ms: number | null
  readonly upstream_ms: number | null
  readonly total_ms: number
}

/** What its cost, or a part of it, is added to in `gateway_budget`. */
export interface ChargedRow extends SpendRow {
  readonly charges: readonly {
    readonly subject: string
    readonly period: string
    readonly costNano?: number | undefined
  }[]
}

/** The type of each. */
export const SPEND_TYPES = {
  call_id: 'text',
  at: 'timestamptz',
  request_id: 'text',
  endpoint: 'text',
  mode: 'text',
  requested_model: 'text',
  model: 'text',
  deployment: 'text',
  provider: 'text',
  key_id: 'text',
  team_id: 'text',
  organization_id: 'text',
  user_id: 'text',
  tags: 'text[]',
  streamed: 'boolean',
  ending: 'text',
  status: 'integer',
  error_type: 'text',
  cache: 'text',
  attempts: 'integer',
  rescued: 'integer',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  cache_creation_input_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  images: 'bigint',
  audio_seconds: 'double precision',
  characters: 'bigint',
  rerank_units: 'bigint',
  estimated: 'boolean',
  cost_nano: 'bigint',
  saved_nano: 'bigint',
  overhead_ms: 'double precision',
  first_token_ms: 'double precision',
  upstream_ms: 'double precision',
  total_ms: 'double precision',
} as const satisfies Record<keyof SpendRow, string>

/** The columns of the ledger, in their order. */
export const SPEND_COLUMNS = Object.keys(SPEND_TYPES) as (keyof SpendRow)[]
