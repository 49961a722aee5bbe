import type { WireUsage } from '../../modes/chat-completion.ts'
import type { Usage } from '../../modes/usage.ts'

/** Usage in the public chat shape. Tokens written to the cache have a name of OpenAI's and an older one of gateways. */
export function wireUsage(usage: Usage): WireUsage {
  const { inputTokens, outputTokens } = usage
  const input = counted({
    cached_tokens: usage.cachedInputTokens,
    cache_creation_tokens: usage.cacheCreationInputTokens,
    cache_write_tokens: usage.cacheCreationInputTokens,
    audio_tokens: usage.audioInputTokens,
    image_tokens: usage.imageInputTokens,
  })
  const output = counted({ reasoning_tokens: usage.reasoningTokens, audio_tokens: usage.audioOutputTokens })
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(input ? { prompt_tokens_details: input } : {}),
    ...(output ? { completion_tokens_details: output } : {}),
  }
}

/** What is counted of some tokens, if anything is; then the first count in any case, which some clients require. */
function counted(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> | undefined {
  const some = Object.entries(counts).filter(([, count], index) => count > 0 || index === 0)
  return some.some(([, count]) => count > 0) ? Object.fromEntries(some) : undefined
}
