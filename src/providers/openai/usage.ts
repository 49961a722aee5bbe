import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { ToolUses } from '../../modes/price/surcharges.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'

/** Usage as OpenAI-shaped APIs report it, with the terms that stand in the answer beside it. undefined when nothing usable
 *  is there: absent, null, or all zero. */
export function openaiUsage(value: unknown, { service_tier: tier }: JsonRecord = {}): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const usage = value as Record<string, unknown>
  const inputTokens = count(usage.prompt_tokens ?? usage.input_tokens)
  const told = count(usage.completion_tokens ?? usage.output_tokens)
  const input = (usage.prompt_tokens_details ?? usage.input_tokens_details ?? {}) as Record<string, unknown>
  const output = (usage.completion_tokens_details ?? usage.output_tokens_details ?? {}) as Record<string, unknown>
  const reasoningTokens = count(output.reasoning_tokens)
  // Some vendors count thoughts beside the output that they are billed as; the sum tells which.
  const beside = reasoningTokens > 0 && usage.total_tokens === inputTokens + told + reasoningTokens
  const outputTokens = beside ? told + reasoningTokens : told
  if (inputTokens + outputTokens === 0) return undefined
  return usageOf({
    inputTokens,
    outputTokens,
    cachedInputTokens: count(input.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens),
    cacheCreationInputTokens: count(input.cache_creation_tokens ?? input.cache_write_tokens),
    reasoningTokens,
    audioInputTokens: count(input.audio_tokens),
    audioOutputTokens: count(output.audio_tokens),
    ...(typeof tier === 'string' ? { terms: { service_tier: tier.toLowerCase() } } : {}),
    ...searches(usage),
  })
}

/** Of vendors that search by themselves, and tell how often in the usage. */
function searches({ num_sources_used: sources, num_search_queries: queries }: JsonRecord): { toolUses?: ToolUses } {
  if (sources === undefined && queries === undefined) return {}
  return { toolUses: { live_search: count(sources), web_search: count(queries) } }
}

/** More than any call has of anything. Who reports more reports nothing: such numbers, added up, are none to a store. */
const MOST = 1e12

/** A number of something, whatever was sent in its place. */
export function count(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= MOST ? Math.floor(value) : 0
}
