import { entryOf } from '../../../lib/json/lenient.ts'
import type { FinishReason, WireUsage } from '../../../modes/chat-completion.ts'

const REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  // What Mistral calls it when the context is full.
  model_length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** Why an answer ended. One that calls tools waits for them, whatever its provider calls that. */
export function stopReason(finish: FinishReason | null | undefined, calls: boolean): string {
  if (calls && finish === 'stop') return 'tool_use'
  return entryOf(REASONS, finish) ?? 'end_turn'
}

/** Usage as this dialect counts: what the cache gave or took is no input. */
export function messagesUsage(usage: WireUsage | null | undefined): object {
  const { cached_tokens = 0, cache_creation_tokens = 0 } = usage?.prompt_tokens_details ?? {}
  return {
    input_tokens: Math.max(0, (usage?.prompt_tokens ?? 0) - cached_tokens - cache_creation_tokens),
    cache_creation_input_tokens: cache_creation_tokens,
    cache_read_input_tokens: cached_tokens,
    output_tokens: usage?.completion_tokens ?? 0,
  }
}
