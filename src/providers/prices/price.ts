import type { ModelInfo } from '../../config/sections/model-list.ts'

/** List prices of a model: those members of `model_info` that vendors publish. */
export type Prices = Partial<
  Pick<
    ModelInfo,
    | 'input_cost_per_token'
    | 'output_cost_per_token'
    | 'cached_input_cost_per_token'
    | 'cache_creation_input_cost_per_token'
    | 'cache_creation_1h_input_cost_per_token'
    | 'input_cost_per_image'
    | 'cost_per_audio_second'
    | 'cost_per_character'
    | 'cost_per_rerank_unit'
    | 'input_cost_per_audio_token'
    | 'input_cost_per_image_token'
  >
>

/** The models of a vendor by their name without version and date. */
export type Rows = Readonly<Record<string, Prices>>

/** US dollars for a million tokens: input, output, input read from the cache, input written to it, and written to it for
 *  an hour or longer where that is not 1.6 times as much. */
export function tokens(
  input: number,
  output: number,
  cached?: number,
  created?: number,
  createdFor1h?: number,
): Prices {
  return {
    input_cost_per_token: perMillion(input),
    output_cost_per_token: perMillion(output),
    ...(cached === undefined ? {} : { cached_input_cost_per_token: perMillion(cached) }),
    ...(created === undefined ? {} : { cache_creation_input_cost_per_token: perMillion(created) }),
    ...(createdFor1h === undefined ? {} : { cache_creation_1h_input_cost_per_token: perMillion(createdFor1h) }),
  }
}

export const reading = (input: number): Prices => ({ input_cost_per_token: perMillion(input) })
export const hearing = (input: number): Prices => ({ input_cost_per_audio_token: perMillion(input) })
export const seeing = (input: number): Prices => ({ input_cost_per_image_token: perMillion(input) })
export const images = (prices: Readonly<Record<string, number>>): Prices => ({ input_cost_per_image: { ...prices } })
export const perMinute = (dollars: number): Prices => ({ cost_per_audio_second: exact(dollars / 60) })
export const perMillionCharacters = (dollars: number): Prices => ({ cost_per_character: perMillion(dollars) })
export const perThousandSearches = (dollars: number): Prices => ({ cost_per_rerank_unit: dollars / 1000 })

/** The same prices, each of them so many times as high. */
export function timesAsMuch(prices: Prices, factor: number): Prices {
  return Object.fromEntries(
    Object.entries(prices).map(([name, price]) => [name, typeof price === 'number' ? exact(price * factor) : price]),
  )
}

/** Rounded to the exact decimal: 0.3 / 1,000,000 is not the number `0.0000003`. */
const exact = (dollars: number) => Number(dollars.toPrecision(12))
const perMillion = (dollars: number) => exact(dollars / 1_000_000)
