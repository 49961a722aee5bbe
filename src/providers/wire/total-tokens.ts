import { asRecord } from '../../lib/json/lenient.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai/usage.ts'

/** The usage of models that generate nothing, which report a total only. */
export function totalTokens(value: unknown): Usage | undefined {
  const inputTokens = count(asRecord(value).total_tokens)
  return inputTokens === 0 ? undefined : usageOf({ inputTokens })
}
