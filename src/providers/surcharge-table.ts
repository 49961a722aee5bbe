import type { ModelInfo } from '../config/sections/model-list.ts'
import { entryOf } from '../lib/json/lenient.ts'

type Surcharges = Partial<
  Pick<
    ModelInfo,
    | 'price_multipliers'
    | 'tool_costs'
    | 'long_context_above'
    | 'long_context_input_multiplier'
    | 'long_context_output_multiplier'
  >
>

/** What vendors bill beyond their list prices, as of the date of the price table. Where it differs between a vendor's
 *  models, the highest. */
const VENDORS: Readonly<Record<string, Surcharges>> = {
  openai: {
    price_multipliers: { 'service_tier/priority': 2 },
    tool_costs: {
      web_search: 0.01,
      web_search_preview: 0.025,
      file_search: 0.0025,
      code_interpreter: 0.03,
      image_generation: 0.25,
    },
  },
  anthropic: {
    price_multipliers: { 'inference_geo/us': 1.1 },
    tool_costs: { web_search: 0.01, code_execution: 0.05 },
  },
  gemini: {
    price_multipliers: { 'service_tier/priority': 2, 'service_tier/flex': 0.5 },
    tool_costs: { google_search: 0.035, google_maps: 0.025 },
  },
  vertex: { tool_costs: { web_search: 0.01, google_search: 0.035, google_maps: 0.025 } },
  bedrock: {
    price_multipliers: { 'service_tier/priority': 1.75, 'service_tier/flex': 0.5, 'performanceConfig/optimized': 1.25 },
  },
  xai: {
    tool_costs: {
      web_search: 0.005,
      x_search: 0.005,
      code_execution: 0.005,
      code_interpreter: 0.005,
      live_search: 0.025,
    },
  },
}

/** OpenAI's models with a slower service tier at half the price. */
const FLEX = /^(gpt-5(\.\d)?|gpt-5-mini|gpt-5-nano|o3|o4-mini)(-\d{4}-\d\d-\d\d)?$/

/** Models whose whole call has other prices when the prompt exceeds a length. */
const LONG: readonly (readonly [RegExp, RegExp, Surcharges])[] = [
  // Sonnet 4 and 4.5: a longer prompt of a later one costs no more.
  [/^(anthropic|vertex|bedrock)$/, /claude-sonnet-4(-[05])?($|[-@:](?!\d{1,2}(\D|$)))/, beyond(200_000, 2, 1.5)],
  [/^(gemini|vertex)$/, /^gemini-2\.5-pro/, beyond(200_000, 2, 1.5)],
  [/^xai$/, /^grok-4/, beyond(128_000, 2, 2)],
]

function beyond(tokens: number, input: number, output: number): Surcharges {
  return {
    long_context_above: tokens,
    long_context_input_multiplier: input,
    long_context_output_multiplier: output,
  }
}

export function listSurcharges(provider: string, model: string): Surcharges {
  const vendor = entryOf(VENDORS, provider) ?? {}
  const [, , long = {}] = LONG.find(([kind, name]) => kind.test(provider) && name.test(model)) ?? []
  const flex = provider === 'openai' && FLEX.test(model) ? { 'service_tier/flex': 0.5 } : {}
  const { price_multipliers } = vendor
  return { ...vendor, ...long, ...(price_multipliers ? { price_multipliers: { ...price_multipliers, ...flex } } : {}) }
}
