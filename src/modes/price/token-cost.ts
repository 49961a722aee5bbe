import type { ModelInfo } from '../../config/sections/model-list.ts'
import type { Usage } from '../usage.ts'
import { costOfUses, multiplierOf } from './surcharges.ts'

/** The price of a cache write for an hour relative to the usual one. The only vendor that sells both charges 2 and 1.25
 *  times the input price. */
const ONE_HOUR_TO_FIVE_MINUTES = 1.6

/** Cached and cache-creation tokens are parts of the input, at their own prices if they have any. A batch costs its own
 *  price, else the usual one times the multiplier. */
export function tokenCost(info: ModelInfo, usage: Usage, batch: boolean): number | undefined {
  const [inputBatches, outputBatches] = batch
    ? [info.input_cost_per_token_batches, info.output_cost_per_token_batches]
    : NO_PRICES
  const multiplier = discountOf(info, batch)
  const input = inputBatches ?? times(info.input_cost_per_token, multiplier)
  const output = outputBatches ?? times(info.output_cost_per_token, multiplier)
  if (input === undefined && output === undefined) return undefined
  const terms = multiplierOf(info, usage.terms)
  const tools = costOfUses(info, usage.toolUses)
  if (terms === undefined || tools === undefined) return undefined
  const inputFactor = factor(info.input_cost_per_token, inputBatches, multiplier)
  const outputFactor = factor(info.output_cost_per_token, outputBatches, multiplier)
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const created = Math.min(usage.cacheCreationInputTokens, usage.inputTokens - cached)
  const createdFor1h = Math.min(usage.cacheCreation1hInputTokens, created)
  const write = info.cache_creation_input_cost_per_token
  const writeFor1h = info.cache_creation_1h_input_cost_per_token ?? times(write, ONE_HOUR_TO_FIVE_MINUTES)
  const audioInput = Math.min(usage.audioInputTokens, usage.inputTokens - cached - created)
  const audioOutput = Math.min(usage.audioOutputTokens, usage.outputTokens)
  const inputCost =
    costOf(usage.inputTokens - cached - created - audioInput, input) +
    costOf(audioInput, times(info.input_cost_per_audio_token, inputFactor) ?? input) +
    costOf(cached, times(info.cached_input_cost_per_token, inputFactor) ?? input) +
    costOf(created - createdFor1h, times(write, inputFactor) ?? input) +
    costOf(createdFor1h, times(writeFor1h, inputFactor) ?? input)
  const outputCost =
    costOf(usage.outputTokens - audioOutput, output) +
    costOf(audioOutput, times(info.output_cost_per_audio_token, outputFactor) ?? output)
  const isLong = usage.inputTokens > (info.long_context_above ?? Number.POSITIVE_INFINITY)
  const total = isLong
    ? inputCost * (info.long_context_input_multiplier ?? 1) + outputCost * (info.long_context_output_multiplier ?? 1)
    : inputCost + outputCost
  return Number.isNaN(total) ? undefined : total * terms + tools
}

const NO_PRICES = [undefined, undefined] as const

export function discountOf({ batch_price_multiplier }: ModelInfo, batch: boolean): number {
  return batch ? batch_price_multiplier : 1
}

/** The discount of a batch, which applies to the parts with prices of their own too. */
function factor(price: number | undefined, batchPrice: number | undefined, multiplier: number): number {
  if (batchPrice === undefined) return multiplier
  return price === undefined || price === 0 ? 1 : batchPrice / price
}

function times(price: number | undefined, factor: number): number | undefined {
  return price === undefined ? undefined : price * factor
}

/** NaN for a used part without a price, which makes the sum NaN. */
function costOf(count: number, price: number | undefined): number {
  if (count === 0) return 0
  return price === undefined ? Number.NaN : count * price
}
