import * as z from 'zod'

/** What calls use, counted as the ledger counts it: of one call, or summed up over many. */
export const usageFields = () => ({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  reasoning_tokens: z.int(),
  images: z.int(),
  audio_seconds: z.number(),
  characters: z.int(),
  rerank_units: z.int(),
})
