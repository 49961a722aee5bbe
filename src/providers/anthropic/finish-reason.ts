import { entryOf } from '../../lib/json/lenient.ts'
import type { FinishReason } from '../../modes/chat-completion.ts'

const REASONS: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** The finish reason in the chat shape. Reasons without an equivalent (end_turn, stop_sequence, pause_turn) are `stop`. */
export function finishReason(stopReason: unknown): FinishReason {
  return entryOf(REASONS, stopReason) ?? 'stop'
}
