import { entryOf } from '../../../lib/json/lenient.ts'
import type { FinishReason, WireUsage } from '../../../modes/chat-completion.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'

const REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** Who calls a tool: the model itself. The vendor's clients for .NET refuse a call that does not say so.
 *  @see https://github.com/anthropics/anthropic-sdk-csharp/issues/149 */
export const DIRECT = { type: 'direct' }

/** The signature of a thought that its provider has not signed: many clients send back no thought without one, and some
 *  models refuse a turn without its thoughts. Claude gets none whose signature begins with a name. */
export const UNSIGNED = 'gateway:unsigned'

/** Why an answer ended. Some providers end an answer with tool calls by `stop`; it is a `tool_use` all the same. */
function stopReason(finish: FinishReason | null | undefined, calls: boolean): string {
  if (calls && finish === 'stop') return 'tool_use'
  return entryOf(REASONS, finish) ?? 'end_turn'
}

/** How an answer ended, for a request with these stop sequences. */
export function ending(
  { finish_reason, stop_reason }: { readonly finish_reason?: FinishReason | null; readonly stop_reason?: unknown },
  calls: boolean,
  sequences: MessagesRequest['stop_sequences'],
): { readonly stop_reason: string; readonly stop_sequence: string | null } {
  const sequence = finish_reason === 'stop' ? sequences?.find((one) => one === stop_reason) : undefined
  if (sequence !== undefined) return { stop_reason: 'stop_sequence', stop_sequence: sequence }
  return { stop_reason: stopReason(finish_reason, calls), stop_sequence: null }
}

/** Usage as this dialect counts: tokens read from or written to the cache are not among the input tokens. */
export function messagesUsage(usage: WireUsage | null | undefined): object {
  const { cached_tokens = 0, cache_creation_tokens = 0 } = usage?.prompt_tokens_details ?? {}
  const thinking_tokens = usage?.completion_tokens_details?.reasoning_tokens ?? 0
  return {
    input_tokens: Math.max(0, (usage?.prompt_tokens ?? 0) - cached_tokens - cache_creation_tokens),
    cache_creation_input_tokens: cache_creation_tokens,
    cache_read_input_tokens: cached_tokens,
    output_tokens: usage?.completion_tokens ?? 0,
    ...(thinking_tokens > 0 ? { output_tokens_details: { thinking_tokens } } : {}),
  }
}
