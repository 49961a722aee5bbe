import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { count, money } from '../fields.ts'

const perImage = (description: string) =>
  z
    .union([money(), z.record(z.string().min(1), money())], {
      error: 'must be a price of 0 or more, or a map of sizes such as 1024x1024 to prices',
    })
    .optional()
    .describe(description)
const multiplier = () => z.number().min(0).max(100)
const NOT_A_TERM = 'must be <field>/<value>, such as service_tier/priority'
const price = (description: string) => money().optional().describe(description)

/** Prices of one deployment in US dollars. The price table gives those that are left out; others are unknown. */
export const pricing = lazily(() => ({
  input_cost_per_token: price('US dollars for one input token.'),
  output_cost_per_token: price('US dollars for one output token.'),
  cached_input_cost_per_token: price("US dollars for one input token read from the provider's cache."),
  cache_creation_input_cost_per_token: price("US dollars for one input token written to the provider's cache."),
  cache_creation_1h_input_cost_per_token: price(
    "US dollars for one input token written to the provider's cache for an hour or longer; else 1.6 times the price of a write.",
  ),
  input_cost_per_audio_token: price('US dollars for one input token of audio; else what an input token costs.'),
  output_cost_per_audio_token: price('US dollars for one output token of audio; else what an output token costs.'),
  input_cost_per_image_token: price('US dollars for one input token of an image; else what an input token costs.'),
  long_context_above: count().optional().describe('Input tokens above which the whole call is billed as long.'),
  long_context_input_multiplier: multiplier().optional().describe('The multiplier of the input price of a long call.'),
  long_context_output_multiplier: multiplier()
    .optional()
    .describe('The multiplier of the output price of a long call.'),
  price_multipliers: z
    .record(z.string().regex(/^[^/]+\/[^/]+$/, { error: NOT_A_TERM }), multiplier())
    .optional()
    .describe(
      'Multipliers of token prices by `<field>/<value>` of the request: `service_tier/priority`, `service_tier/flex`, `speed/fast`, `inference_geo/us`.',
    ),
  tool_costs: z
    .record(z.string().min(1), money())
    .optional()
    .describe(
      'US dollars for one use of a tool that the provider runs, by the type of the tool without its version: `web_search`, `file_search`, `code_interpreter`.',
    ),
  input_cost_per_token_batches: price('US dollars for one input token of a batch.'),
  output_cost_per_token_batches: price('US dollars for one output token of a batch.'),
  batch_price_multiplier: multiplier()
    .default(1)
    .describe('The multiplier of prices in a batch, if there is no batch price.'),
  input_cost_per_image: perImage(
    'US dollars for one image, or a map from `<width>x<height>`, `<quality>/<width>x<height>` and `default`; without a `default` an unlisted size costs as much as the most expensive one.',
  ),
  cost_per_image: perImage('Another name for input_cost_per_image.'),
  cost_per_audio_second: price('US dollars for one second of audio.'),
  cost_per_character: price('US dollars for one character of speech input.'),
  cost_per_rerank_unit: price('US dollars for one rerank unit.'),
}))
