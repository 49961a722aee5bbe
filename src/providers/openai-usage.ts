import type { Usage } from '../modes/usage.ts'

/** Usage as OpenAI-shaped APIs report it. undefined when nothing usable is there: absent, null, or all zero. */
export function openaiUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const usage = value as Record<string, unknown>
  const input = count(usage.prompt_tokens ?? usage.input_tokens)
  const output = count(usage.completion_tokens ?? usage.output_tokens)
  if (input + output === 0) return undefined
  const inputDetails = (usage.prompt_tokens_details ?? usage.input_tokens_details ?? {}) as Record<string, unknown>
  const outputDetails = (usage.completion_tokens_details ?? usage.output_tokens_details ?? {}) as Record<
    string,
    unknown
  >
  return {
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: count(inputDetails.cached_tokens ?? usage.prompt_cache_hit_tokens),
    cacheCreationInputTokens: 0,
    reasoningTokens: count(outputDetails.reasoning_tokens),
    estimated: false,
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0
}
