import { asRecord, isRecord } from '../../lib/json/lenient.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai/usage.ts'

/** The usage that Cohere bills. It excludes the tokens of Cohere's own preamble; those of images are counted apart. */
export function cohereUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const billed = asRecord(value.billed_units)
  const tokens = asRecord(value.tokens)
  const imageInputTokens = count(billed.image_tokens)
  const inputTokens = count(billed.input_tokens ?? tokens.input_tokens) + imageInputTokens
  const outputTokens = count(billed.output_tokens ?? tokens.output_tokens)
  const rerankUnits = count(billed.search_units)
  if (inputTokens + outputTokens + rerankUnits === 0) return undefined
  return usageOf({ inputTokens, imageInputTokens, outputTokens, rerankUnits })
}
