import type { SpendRow } from './spend-row.ts'

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
  calls: () => 1,
  failed_calls: ({ ending }) => (ending === 'failed' || ending === 'truncated' ? 1 : 0),
  cached_calls: ({ cache }) => (cache === 'hit' ? 1 : 0),
  estimated_calls: ({ estimated }) => (estimated ? 1 : 0),
  unpriced_calls: ({ cost_nano }) => (cost_nano === null ? 1 : 0),
  input_tokens: ({ input_tokens }) => input_tokens,
  output_tokens: ({ output_tokens }) => output_tokens,
  cached_input_tokens: ({ cached_input_tokens }) => cached_input_tokens,
  cache_creation_input_tokens: ({ cache_creation_input_tokens }) => cache_creation_input_tokens,
  reasoning_tokens: ({ reasoning_tokens }) => reasoning_tokens,
  images: ({ images }) => images,
  audio_seconds: ({ audio_seconds }) => audio_seconds,
  characters: ({ characters }) => characters,
  rerank_units: ({ rerank_units }) => rerank_units,
  cost_nano: ({ cost_nano }) => cost_nano ?? 0,
  saved_nano: ({ saved_nano }) => saved_nano,
  total_ms: ({ total_ms }) => total_ms,
} as const satisfies Record<string, (row: SpendRow) => number>
export type SpendSum = keyof typeof SPEND_SUMS

/** The sums that are no integers. */
export const SPEND_FRACTIONS: ReadonlySet<string> = new Set<SpendSum>(['audio_seconds', 'total_ms'])
