import type { ModelInfo } from '../../config/sections/model-list.ts'
import type { Usage } from '../usage.ts'
import { priceOfImage } from './image-price.ts'
import { inBatch, type PricePart } from './price-parts.ts'
import { discountOf, tokenCost } from './token-cost.ts'

/** One way of billing the calls of a mode, in US dollars. */
export interface Tariff {
  /** Whether the deployment has every price that such a call may need. */
  priced(info: ModelInfo): boolean
  /** The cost of a typical unit, for comparing deployments; undefined if it has no price. */
  unitCost(info: ModelInfo): number | undefined
  /** undefined if a part of the usage has no price, or if the usage has nothing that is billed this way. `parts`, if
   *  given, gets what the cost consists of. */
  cost(info: ModelInfo, usage: Usage, batch: boolean, parts?: PricePart[]): number | undefined
}

/** Generated text: tokens in and tokens out. */
export const textTokens: Tariff = {
  priced: ({ input_cost_per_token: input, output_cost_per_token: output }) =>
    input !== undefined && output !== undefined,
  unitCost({ input_cost_per_token: input, output_cost_per_token: output }) {
    return input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)
  },
  cost: tokenCost,
}

/** Text without an answer in tokens: input tokens only. */
export const inputTokens: Tariff = {
  priced: ({ input_cost_per_token: input }) => input !== undefined,
  unitCost: ({ input_cost_per_token: input }) => input,
  cost: tokenCost,
}

/** Tokens instead of another unit, for vendors that bill and report tokens. */
export function tokensInstead(typical: { readonly input: number; readonly output: number }): Tariff {
  const { priced } = typical.output === 0 ? inputTokens : textTokens
  return {
    priced,
    unitCost(info) {
      const { input_cost_per_token: input = 0, output_cost_per_token: output = 0 } = info
      return priced(info) ? input * typical.input + output * typical.output : undefined
    },
    cost: (info, usage, batch, parts) =>
      usage.inputTokens + usage.outputTokens === 0 ? undefined : tokenCost(info, usage, batch, parts),
  }
}

const UNITS = { audioSeconds: 'audio_seconds', characters: 'characters', rerankUnits: 'rerank_units' } as const

/** Units at one price each. A count of zero means that it is unknown. */
export function perUnit(
  unit: 'audioSeconds' | 'characters' | 'rerankUnits',
  field: 'cost_per_audio_second' | 'cost_per_character' | 'cost_per_rerank_unit',
): Tariff {
  return {
    priced: (info) => info[field] !== undefined,
    unitCost: (info) => info[field],
    cost(info, usage, batch, parts) {
      const price = info[field]
      const count = usage[unit]
      if (price === undefined || count === 0) return undefined
      parts?.push({ unit: UNITS[unit], count, price, times: inBatch(discountOf(info, batch)) })
      return count * price * discountOf(info, batch)
    },
  }
}

/** Images at one price, or at a price for each size. */
export const perImage: Tariff = {
  priced: (info) => imagePrice(info) !== undefined,
  unitCost(info) {
    const price = imagePrice(info)
    return typeof price === 'object' ? Math.min(...Object.values(price)) : price
  },
  cost(info, { images, imageSize }, batch, parts) {
    const prices = imagePrice(info)
    const price = typeof prices === 'object' ? priceOfImage(prices, imageSize) : prices
    if (price === undefined || images === 0) return undefined
    parts?.push({ unit: 'images', count: images, price, times: inBatch(discountOf(info, batch)) })
    return images * price * discountOf(info, batch)
  },
}

function imagePrice({ cost_per_image, input_cost_per_image }: ModelInfo) {
  const price = cost_per_image ?? input_cost_per_image
  // A map without an entry prices nothing.
  return typeof price === 'object' && Object.keys(price).length === 0 ? undefined : price
}
