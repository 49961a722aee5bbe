import { asRecord } from '../../lib/lenient.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai-usage.ts'

/** Usage in the words of the Messages API, whose input excludes what was read from and written to the cache. A stream
 *  reports it in parts: what a later report says replaces what an earlier one said, but for a zero, which some write for
 *  what they said before. undefined when all is absent. */
export function messagesUsage(...reports: readonly unknown[]): Usage | undefined {
  const known = reports
    .flatMap((report) => Object.entries(asRecord(report)))
    .filter(([, value]) => value !== null && value !== 0)
  const usage = Object.fromEntries(known)
  const cachedInputTokens = count(usage.cache_read_input_tokens)
  const cacheCreationInputTokens = count(usage.cache_creation_input_tokens)
  const inputTokens = count(usage.input_tokens) + cachedInputTokens + cacheCreationInputTokens
  const outputTokens = count(usage.output_tokens)
  if (inputTokens + outputTokens === 0) return undefined
  const reasoningTokens = count(asRecord(usage.output_tokens_details).thinking_tokens)
  return usageOf({
    inputTokens,
    outputTokens,
    cachedInputTokens,
    cacheCreationInputTokens,
    cacheCreation1hInputTokens: count(asRecord(usage.cache_creation).ephemeral_1h_input_tokens),
    reasoningTokens,
  })
}
