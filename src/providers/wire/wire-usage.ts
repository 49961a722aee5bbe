import type { WireUsage } from '../../modes/chat-completion.ts'
import type { Usage } from '../../modes/usage.ts'

/** Usage in the public chat shape. */
export function wireUsage(usage: Usage): WireUsage {
  const { inputTokens, outputTokens, cachedInputTokens, cacheCreationInputTokens, reasoningTokens } = usage
  const input = {
    ...(cachedInputTokens > 0 ? { cached_tokens: cachedInputTokens } : {}),
    ...(cacheCreationInputTokens > 0 ? { cache_creation_tokens: cacheCreationInputTokens } : {}),
  }
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(Object.keys(input).length > 0 ? { prompt_tokens_details: input } : {}),
    ...(reasoningTokens > 0 ? { completion_tokens_details: { reasoning_tokens: reasoningTokens } } : {}),
  }
}
