import type { ModelInfo } from '../config/sections/model-list.ts'
import { entryOf } from '../lib/json/lenient.ts'
import { listSurcharges } from './surcharge-table.ts'

/** When these prices were last compared with the vendors' price lists. A deployment's own prices take precedence. */
export const PRICES_AS_OF = '2025-11'

export type Prices = Partial<
  Pick<
    ModelInfo,
    | 'input_cost_per_token'
    | 'output_cost_per_token'
    | 'cached_input_cost_per_token'
    | 'cache_creation_input_cost_per_token'
    | 'input_cost_per_image'
    | 'cost_per_audio_second'
    | 'cost_per_character'
    | 'cost_per_rerank_unit'
    | 'input_cost_per_audio_token'
    | 'input_cost_per_image_token'
  >
>

/** US dollars for a million tokens: input, output, input read from the cache, input written to it. */
function tokens(input: number, output: number, cached?: number, created?: number): Prices {
  return {
    input_cost_per_token: perMillion(input),
    output_cost_per_token: perMillion(output),
    ...(cached === undefined ? {} : { cached_input_cost_per_token: perMillion(cached) }),
    ...(created === undefined ? {} : { cache_creation_input_cost_per_token: perMillion(created) }),
  }
}

/** Rounded to the exact decimal: 0.3 / 1,000,000 is not the number `0.0000003`. */
function perMillion(dollars: number): number {
  return Number((dollars / 1_000_000).toPrecision(12))
}

function hearing(input: number): Prices {
  return { input_cost_per_audio_token: perMillion(input) }
}

function seeing(input: number): Prices {
  return { input_cost_per_image_token: perMillion(input) }
}

const reading = (input: number): Prices => ({ input_cost_per_token: perMillion(input) })
const images = (prices: Readonly<Record<string, number>>): Prices => ({ input_cost_per_image: { ...prices } })
const perMinute = (dollars: number): Prices => ({ cost_per_audio_second: Number((dollars / 60).toPrecision(12)) })
const perMillionCharacters = (dollars: number): Prices => ({ cost_per_character: perMillion(dollars) })
const perThousandSearches = (dollars: number): Prices => ({ cost_per_rerank_unit: dollars / 1000 })

const claude = {
  'claude-opus-4-5': tokens(5, 25, 0.5, 6.25),
  'claude-opus-4-1': tokens(15, 75, 1.5, 18.75),
  'claude-opus-4': tokens(15, 75, 1.5, 18.75),
  'claude-sonnet-4-5': tokens(3, 15, 0.3, 3.75),
  'claude-sonnet-4': tokens(3, 15, 0.3, 3.75),
  'claude-haiku-4-5': tokens(1, 5, 0.1, 1.25),
  'claude-3-7-sonnet': tokens(3, 15, 0.3, 3.75),
  'claude-3-5-sonnet': tokens(3, 15, 0.3, 3.75),
  'claude-3-5-haiku': tokens(0.8, 4, 0.08, 1),
  'claude-3-opus': tokens(15, 75, 1.5, 18.75),
  'claude-3-haiku': tokens(0.25, 1.25, 0.03, 0.3),
}

const gemini = {
  'gemini-2.5-pro': tokens(1.25, 10, 0.125),
  'gemini-2.5-flash': { ...tokens(0.3, 2.5, 0.03), ...hearing(1) },
  'gemini-2.5-flash-lite': { ...tokens(0.1, 0.4, 0.01), ...hearing(0.3) },
  'gemini-2.0-flash': { ...tokens(0.1, 0.4, 0.025), ...hearing(0.7) },
  'gemini-2.0-flash-lite': tokens(0.075, 0.3),
  'gemini-embedding': reading(0.15),
}

/** Prices by provider and by the provider's name of the model, without its date. These are the usual prices; surcharges
 *  for longer prompts, other regions or faster service are in `surcharge-table.ts`. Azure is left out, because its model
 *  name is one that the owner of the deployment chose. */
const TABLE: Readonly<Record<string, Readonly<Record<string, Prices>>>> = {
  openai: {
    'gpt-5.1': tokens(1.25, 10, 0.125),
    'gpt-5': tokens(1.25, 10, 0.125),
    'gpt-5-chat': tokens(1.25, 10, 0.125),
    'gpt-5-codex': tokens(1.25, 10, 0.125),
    'gpt-5-mini': tokens(0.25, 2, 0.025),
    'gpt-5-nano': tokens(0.05, 0.4, 0.005),
    'gpt-5-pro': tokens(15, 120),
    'gpt-4.1': tokens(2, 8, 0.5),
    'gpt-4.1-mini': tokens(0.4, 1.6, 0.1),
    'gpt-4.1-nano': tokens(0.1, 0.4, 0.025),
    'gpt-4o': tokens(2.5, 10, 1.25),
    'gpt-4o-2024-05-13': tokens(5, 15),
    'gpt-4o-mini': tokens(0.15, 0.6, 0.075),
    'chatgpt-4o': tokens(5, 15),
    o1: tokens(15, 60, 7.5),
    'o1-mini': tokens(1.1, 4.4, 0.55),
    'o1-pro': tokens(150, 600),
    o3: tokens(2, 8, 0.5),
    'o3-mini': tokens(1.1, 4.4, 0.55),
    'o3-pro': tokens(20, 80),
    'o4-mini': tokens(1.1, 4.4, 0.275),
    'gpt-4-turbo': tokens(10, 30),
    'gpt-4': tokens(30, 60),
    'gpt-3.5-turbo': tokens(0.5, 1.5),
    'text-embedding-3-small': reading(0.02),
    'text-embedding-3-large': reading(0.13),
    'text-embedding-ada-002': reading(0.1),
    'dall-e-3': images({
      '1024x1024': 0.04,
      '1024x1792': 0.08,
      '1792x1024': 0.08,
      'hd/1024x1024': 0.08,
      'hd/1024x1792': 0.12,
      'hd/1792x1024': 0.12,
    }),
    'dall-e-2': images({ '256x256': 0.016, '512x512': 0.018, '1024x1024': 0.02 }),
    'gpt-image-1': { ...tokens(5, 40, 1.25), ...seeing(10) },
    'gpt-image-1-mini': { ...tokens(2, 8, 0.2), ...seeing(2.5) },
    'omni-moderation-latest': reading(0),
    'text-moderation-latest': reading(0),
    'text-moderation-stable': reading(0),
    'tts-1': perMillionCharacters(15),
    'tts-1-hd': perMillionCharacters(30),
    'gpt-4o-mini-tts': tokens(0.6, 12),
    'whisper-1': perMinute(0.006),
    'gpt-4o-transcribe': { ...tokens(2.5, 10), ...hearing(6) },
    'gpt-4o-transcribe-diarize': { ...tokens(2.5, 10), ...hearing(6) },
    'gpt-4o-mini-transcribe': { ...tokens(1.25, 5), ...hearing(3) },
  },
  anthropic: claude,
  gemini,
  vertex: { ...claude, ...gemini },
  bedrock: {
    'global.anthropic.claude-sonnet-4-5': claude['claude-sonnet-4-5'],
    'global.anthropic.claude-haiku-4-5': claude['claude-haiku-4-5'],
    'global.anthropic.claude-opus-4-5': claude['claude-opus-4-5'],
    'anthropic.claude-opus-4-1': claude['claude-opus-4-1'],
    'anthropic.claude-opus-4': claude['claude-opus-4'],
    'anthropic.claude-sonnet-4': claude['claude-sonnet-4'],
    'anthropic.claude-3-7-sonnet': claude['claude-3-7-sonnet'],
    'anthropic.claude-3-5-sonnet': claude['claude-3-5-sonnet'],
    'anthropic.claude-3-5-haiku': claude['claude-3-5-haiku'],
    'anthropic.claude-3-haiku': claude['claude-3-haiku'],
    'amazon.nova-premier': tokens(2.5, 12.5, 0.625),
    'amazon.nova-pro': tokens(0.8, 3.2, 0.2),
    'amazon.nova-lite': tokens(0.06, 0.24, 0.015),
    'amazon.nova-micro': tokens(0.035, 0.14, 0.00875),
    'amazon.titan-embed-text': reading(0.02),
  },
  cohere: {
    'command-a': tokens(2.5, 10),
    'command-r-plus': tokens(2.5, 10),
    'command-r': tokens(0.15, 0.6),
    'command-r7b': tokens(0.0375, 0.15),
    'embed-v4.0': { ...reading(0.12), ...seeing(0.47) },
    'embed-english-v3.0': reading(0.1),
    'embed-multilingual-v3.0': reading(0.1),
    'rerank-v3.5': perThousandSearches(2),
    'rerank-english-v3.0': perThousandSearches(2),
    'rerank-multilingual-v3.0': perThousandSearches(2),
  },
  mistral: {
    'mistral-large': tokens(2, 6),
    'mistral-medium': tokens(0.4, 2),
    'mistral-small': tokens(0.1, 0.3),
    'ministral-8b': tokens(0.1, 0.1),
    'ministral-3b': tokens(0.04, 0.04),
    'magistral-medium': tokens(2, 5),
    'magistral-small': tokens(0.5, 1.5),
    'pixtral-large': tokens(2, 6),
    codestral: tokens(0.3, 0.9),
    'open-mistral-nemo': tokens(0.15, 0.15),
    'mistral-embed': reading(0.1),
    'voxtral-mini-2602': perMinute(0.003),
    'voxtral-mini-latest': perMinute(0.003),
  },
  groq: {
    'llama-3.3-70b-versatile': tokens(0.59, 0.79),
    'llama-3.1-8b-instant': tokens(0.05, 0.08),
    'openai/gpt-oss-120b': tokens(0.15, 0.6),
    'openai/gpt-oss-20b': tokens(0.075, 0.3),
    'moonshotai/kimi-k2-instruct-0905': tokens(1, 3),
    'whisper-large-v3': perMinute(0.111 / 60),
    'whisper-large-v3-turbo': perMinute(0.04 / 60),
  },
  deepseek: { 'deepseek-chat': tokens(0.28, 0.42, 0.028), 'deepseek-reasoner': tokens(0.28, 0.42, 0.028) },
  xai: {
    'grok-4': tokens(3, 15, 0.75),
    'grok-4-fast-reasoning': tokens(0.2, 0.5, 0.05),
    'grok-4-fast-non-reasoning': tokens(0.2, 0.5, 0.05),
    'grok-code-fast-1': tokens(0.2, 1.5, 0.02),
    'grok-3': tokens(3, 15, 0.75),
    'grok-3-mini': tokens(0.3, 0.5, 0.075),
  },
  moonshot: { 'kimi-k2-0905-preview': tokens(0.6, 2.5, 0.15) },
  voyage: {
    'voyage-3.5': reading(0.06),
    'voyage-3.5-lite': reading(0.02),
    'voyage-3-large': reading(0.18),
    'voyage-code-3': reading(0.18),
    'rerank-2.5': reading(0.05),
    'rerank-2.5-lite': reading(0.02),
  },
  deepgram: { 'nova-3': perMinute(0.0043), 'nova-2': perMinute(0.0043), 'aura-2': perMillionCharacters(30) },
}

/** One row of the table: the prices of a model by the name that its versions and dates share. */
export interface PriceRow {
  readonly provider: string
  readonly model: string
  readonly prices: Prices
}

/** The whole table, by provider and model. */
export function priceRows(): PriceRow[] {
  return Object.entries(TABLE).flatMap(([provider, rows]) =>
    Object.entries(rows).map(([model, prices]) => ({ provider, model, prices })),
  )
}

/** The row that prices a model: its own, or that of its name without version, date and region. */
export function priceRowOf(provider: string, model: string): PriceRow | undefined {
  const rows = entryOf(TABLE, provider)
  const name = rows && namesOf(model).find((one) => Object.hasOwn(rows, one))
  return name === undefined ? undefined : { provider, model: name, prices: rows?.[name] ?? {} }
}

/** The list prices of a model; none for an unknown model. */
export function listPrices(provider: string, model: string): Prices {
  return priceRowOf(provider, model)?.prices ?? {}
}

const VERSION = /(@|-v)\d+(:\d+)?$/
const DATE = /[-@](latest|\d{4}-\d\d-\d\d|\d{8}|\d{3,4}|\d\d-\d{4})$/
const REGION = /^(us|eu|apac|jp|au|ca|sa|global|us-gov)\./

/** A model's name, and the same without its version, its date, its region. */
function namesOf(model: string): string[] {
  const undated = model.replace(VERSION, '').replace(DATE, '')
  return [model, undated, undated.replace(REGION, '')]
}

/** The prices of a deployment, completed from the tables. A deployment with a token price keeps all its token prices: an
 *  input part without a price of its own then costs as much as the input. Multipliers apply to any price. */
export function withListPrices(provider: string, model: string, info: ModelInfo): ModelInfo {
  const listed = listPrices(provider, model)
  const surcharges = listSurcharges(provider, model)
  const maps = {
    ...mapOf('price_multipliers', surcharges.price_multipliers, info.price_multipliers),
    ...mapOf('tool_costs', surcharges.tool_costs, info.tool_costs),
  }
  if (info.input_cost_per_token === undefined) return { ...surcharges, ...listed, ...info, ...maps }
  const {
    cached_input_cost_per_token: _c,
    cache_creation_input_cost_per_token: _w,
    input_cost_per_audio_token: _a,
    input_cost_per_image_token: _i,
    ...others
  } = listed
  return { ...surcharges, ...others, ...info, ...maps }
}

type PriceMap = Readonly<Record<string, number>>

function mapOf<Name extends string>(
  name: Name,
  listed?: PriceMap,
  own?: PriceMap,
): { readonly [_ in Name]?: PriceMap } {
  return listed || own ? ({ [name]: { ...listed, ...own } } as { [_ in Name]: PriceMap }) : {}
}
