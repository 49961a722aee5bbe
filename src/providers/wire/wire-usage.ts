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

function counted(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> | undefined {
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  return some.length === 0 ? undefined : Object.fromEntries(some)
}
