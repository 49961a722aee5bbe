import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { money } from './fields.ts'

const perImage = (description: string) =>
  z
    .union([money(), z.record(z.string().min(1), money())], {
      error: 'must be a price of 0 or more, or a map of sizes such as 1024x1024 to prices',
    })
    .optional()
    .describe(description)
const price = (description: string) => money().optional().describe(description)

/** Prices of one deployment in US dollars. What is left out comes from the price table, else is unknown. */
export const pricing = lazily(() => ({
  input_cost_per_token: price('US dollars for one input token.'),
  output_cost_per_token: price('US dollars for one output token.'),
  cached_input_cost_per_token: price("US dollars for one input token read from the provider's cache."),
  cache_creation_input_cost_per_token: price("US dollars for one input token written to the provider's cache."),
  cache_creation_1h_input_cost_per_token: price(
    "US dollars for one input token written to the provider's cache for an hour; else 1.6 times the price of a write.",
  ),
  input_cost_per_token_batches: price('US dollars for one input token of a batch.'),
  output_cost_per_token_batches: price('US dollars for one output token of a batch.'),
  batch_price_multiplier: z
    .number()
    .min(0)
    .max(100)
    .default(1)
    .describe('What the prices are multiplied by in a batch, where no batch price is given.'),
  input_cost_per_image: perImage(
    'US dollars for one image, or a map from `<width>x<height>`, `<quality>/<width>x<height>` and `default`.',
  ),
  cost_per_image: perImage('Another name of input_cost_per_image.'),
  cost_per_audio_second: price('US dollars for one second of audio.'),
  cost_per_character: price('US dollars for one character of speech input.'),
  cost_per_rerank_unit: price('US dollars for one rerank unit.'),
}))
