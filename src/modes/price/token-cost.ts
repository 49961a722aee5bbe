import type { ModelInfo } from '../../config/sections/model-list.ts'
import type { Usage } from '../usage.ts'
import { costOfUses, multiplierOf } from './surcharges.ts'

/** The price of a cache write for an hour relative to the usual one. The only vendor that sells both charges 2 and 1.25
 *  times the input price. */
const ONE_HOUR_TO_FIVE_MINUTES = 1.6

/** Cached and cache-creation tokens are parts of the input, at their own prices if they have any. A batch costs its own
 *  price, else the usual one times the multiplier. */
export function tokenCost(info: ModelInfo, usage: Usage, batch: boolean): number | undefined {
  const { input_cost_per_token: input, output_cost_per_token: output } = info
  if (input === undefined && output === undefined) return undefined
  const terms = multiplierOf(info, usage.terms)
  const tools = costOfUses(info, usage.toolUses)
  if (terms === undefined || tools === undefined) return undefined
  const multiplier = discountOf(info, batch)
  const inputFactor = factor(input, batch ? info.input_cost_per_token_batches : undefined, multiplier)
  const outputFactor = factor(output, batch ? info.output_cost_per_token_batches : undefined, multiplier)
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const created = Math.min(usage.cacheCreationInputTokens, usage.inputTokens - cached)
  const createdFor1h = Math.min(usage.cacheCreation1hInputTokens, created)
  const write = info.cache_creation_input_cost_per_token
  const writeFor1h =
    info.cache_creation_1h_input_cost_per_token ?? (write === undefined ? input : write * ONE_HOUR_TO_FIVE_MINUTES)
  const audioInput = Math.min(usage.audioInputTokens, usage.inputTokens - cached - created)
  const audioOutput = Math.min(usage.audioOutputTokens, usage.outputTokens)
  const inputCost =
    priceOf(usage.inputTokens - cached - created - audioInput, input, inputFactor) +
    priceOf(audioInput, info.input_cost_per_audio_token ?? input, inputFactor) +
    priceOf(cached, info.cached_input_cost_per_token ?? input, inputFactor) +
    priceOf(created - createdFor1h, write ?? input, inputFactor) +
    priceOf(createdFor1h, writeFor1h, inputFactor)
  const outputCost =
    priceOf(usage.outputTokens - audioOutput, output, outputFactor) +
    priceOf(audioOutput, info.output_cost_per_audio_token ?? output, outputFactor)
  const isLong = usage.inputTokens > (info.long_context_above ?? Number.POSITIVE_INFINITY)
  const total = isLong
    ? inputCost * (info.long_context_input_multiplier ?? 1) + outputCost * (info.long_context_output_multiplier ?? 1)
    : inputCost + outputCost
  return Number.isNaN(total) ? undefined : total * terms + tools
}

export function discountOf({ batch_price_multiplier }: ModelInfo, batch: boolean): number {
  return batch ? batch_price_multiplier : 1
}

/** The discount of a batch, which applies to the cached parts of the input too. */
function factor(price: number | undefined, batchPrice: number | undefined, multiplier: number): number {
  if (batchPrice === undefined) return multiplier
  return price === undefined || price === 0 ? 1 : batchPrice / price
}

/** NaN for a used part without a price, which makes the sum NaN. */
function priceOf(count: number, price: number | undefined, factor: number): number {
  if (count === 0) return 0
  return price === undefined ? Number.NaN : count * price * factor
}
