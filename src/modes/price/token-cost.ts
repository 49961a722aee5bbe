import type { ModelInfo } from '../../config/sections/model-list.ts'
import type { Usage } from '../usage.ts'
import { multiplied, type PricePart } from './price-parts.ts'
import { costOfUses, multiplierOf } from './surcharges.ts'

/** The price of a cache write for an hour relative to the usual one, at Anthropic: 2 and 1.25 times the input price. */
const ONE_HOUR_TO_FIVE_MINUTES = 1.6

/** Cached and cache-creation tokens are parts of the input, at their own prices if they have any. A batch costs its own
 *  price, else the usual one times the multiplier. `parts`, if given, gets what the cost consists of. */
export function tokenCost(info: ModelInfo, usage: Usage, batch: boolean, parts?: PricePart[]): number | undefined {
  const inputBatches = batch ? info.input_cost_per_token_batches : undefined
  const outputBatches = batch ? info.output_cost_per_token_batches : undefined
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
  const cachedAudio = Math.min(usage.cachedAudioInputTokens ?? 0, usage.audioInputTokens, cached)
  const audioInput = Math.min(usage.audioInputTokens - cachedAudio, usage.inputTokens - cached - created)
  const imageInput = Math.min(usage.imageInputTokens, usage.inputTokens - cached - created - audioInput)
  const audioOutput = Math.min(usage.audioOutputTokens, usage.outputTokens)
  const cachedPrice = times(info.cached_input_cost_per_token, inputFactor)
  const inputCost =
    costOf(usage.inputTokens - cached - created - audioInput - imageInput, input, 'input_tokens', parts) +
    costOf(audioInput, times(info.input_cost_per_audio_token, inputFactor) ?? input, 'audio_input_tokens', parts) +
    costOf(imageInput, times(info.input_cost_per_image_token, inputFactor) ?? input, 'image_input_tokens', parts) +
    costOf(cached - cachedAudio, cachedPrice ?? input, 'cached_input_tokens', parts) +
    costOf(cachedAudio, times(cachedPrice ?? input, audioToText(info)), 'cached_audio_input_tokens', parts) +
    costOf(created - createdFor1h, times(write, inputFactor) ?? input, 'cache_creation_input_tokens', parts) +
    costOf(createdFor1h, times(writeFor1h, inputFactor) ?? input, 'cache_creation_1h_input_tokens', parts)
  const inputParts = parts?.length ?? 0
  const outputCost =
    costOf(usage.outputTokens - audioOutput, output, 'output_tokens', parts) +
    costOf(audioOutput, times(info.output_cost_per_audio_token, outputFactor) ?? output, 'audio_output_tokens', parts)
  const isLong = usage.inputTokens > (info.long_context_above ?? Number.POSITIVE_INFINITY)
  const longInput = isLong ? (info.long_context_input_multiplier ?? 1) : 1
  const longOutput = isLong ? (info.long_context_output_multiplier ?? 1) : 1
  const total = inputCost * longInput + outputCost * longOutput
  if (parts) {
    const ofInput = { info, terms: usage.terms, batch: inputFactor, long: longInput }
    const ofOutput = { info, terms: usage.terms, batch: outputFactor, long: longOutput }
    parts.forEach((part, index) => {
      parts[index] = multiplied(part, index < inputParts ? ofInput : ofOutput)
    })
    for (const [tool, count] of Object.entries(usage.toolUses ?? {})) {
      const price = costOfUses(info, { [tool]: 1 })
      if (price !== undefined) parts.push({ unit: 'tool_uses', tool, count, price, times: [] })
    }
  }
  return Number.isNaN(total) ? undefined : total * terms + tools
}

/** How much dearer audio is than text. In a cache, too: vendors give both the same discount. */
function audioToText({ input_cost_per_audio_token: audio, input_cost_per_token: text }: ModelInfo): number {
  return audio === undefined || !text ? 1 : audio / text
}

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
function costOf(
  count: number,
  price: number | undefined,
  unit: PricePart['unit'],
  parts: PricePart[] | undefined,
): number {
  if (count === 0) return 0
  if (price === undefined) return Number.NaN
  parts?.push({ unit, count, price, times: [] })
  return count * price
}
