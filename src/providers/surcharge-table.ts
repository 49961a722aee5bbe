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
 *  models and is not told of each below, the highest. */
const VENDORS: Readonly<Record<string, Surcharges>> = {
  openai: {
    // `fast` is the newer name of `priority`.
    price_multipliers: { 'service_tier/fast': 2, 'service_tier/priority': 2, 'service_tier/ultrafast': 6 },
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
  perplexity: { tool_costs: { web_search: 0.0025, fetch_url: 0.0005, people_search: 0.005, finance_search: 0.005 } },
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

/** What single models cost beyond that. Where several fit, the later wins. */
const MODELS: readonly (readonly [RegExp, RegExp, Surcharges])[] = [
  // A slower tier at half the price.
  [
    /^openai$/,
    /^(gpt-5(\.[1-5])?(-mini|-nano|-pro)?|gpt-5\.6(-(sol|terra|luna))?|gpt-6(\.1)?-(astra|sol|terra|luna)|o3|o4-mini)(-\d{4}-\d\d-\d\d)?$/,
    multiplying({ 'service_tier/flex': 0.5 }),
  ],
  [/^openai$/, /^gpt-5\.5/, multiplying({ 'service_tier/fast': 2.5, 'service_tier/priority': 2.5 })],
  [/^openai$/, /^gpt-5-mini/, multiplying({ 'service_tier/fast': 1.8, 'service_tier/priority': 1.8 })],
  [/^openai$/, /^gpt-4\.1(-\d{4}|$)/, multiplying({ 'service_tier/fast': 1.75, 'service_tier/priority': 1.75 })],
  [/^anthropic$/, /^claude-(fable-5-2|opus-5-5|opus-5|opus-4-8)$/, multiplying({ 'speed/fast': 2 })],
  // Longer prompts. A longer prompt of a later Sonnet costs no more.
  [/^(anthropic|vertex|bedrock)$/, /claude-sonnet-4(-[05])?($|[-@:](?!\d{1,2}(\D|$)))/, beyond(200_000, 2, 1.5)],
  [/^(anthropic|vertex|bedrock)$/, /claude-haiku-5-5/, beyond(100_000, 5, 5)],
  [/^openai$/, /^gpt-(5\.[45](-pro)?|5\.6|6)(-|\.|$)(?!(mini|nano))/, beyond(272_000, 2, 1.5)],
  [/^(gemini|vertex)$/, /^gemini-(2\.5|3(\.1)?)-pro(?!-image)/, beyond(200_000, 2, 1.5)],
  [/^xai$/, /^grok-4/, beyond(128_000, 2, 2)],
  // It counts a prompt of 200,000 tokens among the long ones.
  [/^xai$/, /^grok-(4\.|build)/, beyond(199_999, 2, 2)],
  // From the third generation on Google bills each query.
  [/^(gemini|vertex)$/, /^gemini-[3-9]/, { tool_costs: { google_search: 0.014 } }],
  [/^(gemini|vertex)$/, /^gemini-[4-9]/, { tool_costs: { google_maps: 0.014 } }],
]

function multiplying(price_multipliers: Readonly<Record<string, number>>): Surcharges {
  return { price_multipliers }
}

function beyond(tokens: number, input: number, output: number): Surcharges {
  return {
    long_context_above: tokens,
    long_context_input_multiplier: input,
    long_context_output_multiplier: output,
  }
}

export function listSurcharges(provider: string, model: string): Surcharges {
  let sum = entryOf(VENDORS, provider) ?? {}
  for (const [kind, name, own] of MODELS) {
    if (kind.test(provider) && name.test(model)) sum = { ...sum, ...own, ...joined(sum, own) }
  }
  return sum
}

type Maps = Pick<Surcharges, 'price_multipliers' | 'tool_costs'>

/** The maps of both; entries of the second win. */
export function joined(one: Maps, other: Maps): Maps {
  return {
    ...mapOf('price_multipliers', one, other),
    ...mapOf('tool_costs', one, other),
  }
}

function mapOf<Name extends keyof Maps>(name: Name, { [name]: one }: Maps, { [name]: other }: Maps): Maps {
  return one || other ? { [name]: { ...one, ...other } } : {}
}
