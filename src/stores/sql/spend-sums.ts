/** What a row of the rollups is about. */
export const SPEND_DIMENSIONS = [
  'key_id',
  'user_id',
  'team_id',
  'organization_id',
  'model',
  'provider',
  'deployment',
] as const
export type SpendDimension = (typeof SPEND_DIMENSIONS)[number]

/** What is summed up, and how each row of the ledger adds to it. */
export const SPEND_SUMS = {
  calls: '1',
  failed_calls: "(ending IN ('failed', 'truncated'))::int",
  cached_calls: "(cache = 'hit')::int",
  estimated_calls: 'estimated::int',
  unpriced_calls: '(cost_nano IS NULL)::int',
  input_tokens: 'input_tokens',
  output_tokens: 'output_tokens',
  cached_input_tokens: 'cached_input_tokens',
  cache_creation_input_tokens: 'cache_creation_input_tokens',
  reasoning_tokens: 'reasoning_tokens',
  images: 'images',
  audio_seconds: 'audio_seconds',
  characters: 'characters',
  rerank_units: 'rerank_units',
  cost_nano: 'coalesce(cost_nano, 0)',
  saved_nano: 'saved_nano',
  total_ms: 'total_ms',
} as const
export type SpendSum = keyof typeof SPEND_SUMS
