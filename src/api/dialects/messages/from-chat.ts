import { GatewayError } from '../../../lib/errors.ts'
import { parseRecord } from '../../../lib/lenient.ts'
import type { AssistantMessage, ChatCompletion, ToolCall } from '../../../modes/chat-completion.ts'
import { messagesUsage, stopReason } from './wire.ts'

/** A chat completion as a message. */
export function fromChat({ id, model, choices, usage }: ChatCompletion): object {
  const [choice] = choices
  if (!choice?.message) throw new GatewayError('upstream_malformed', "The provider's answer has no choice.")
  const { message, finish_reason } = choice
  const calls = message.tool_calls ?? []
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [...thoughts(message), ...words(message.content), ...words(message.refusal), ...calls.map(toolUse)],
    stop_reason: message.refusal ? 'refusal' : stopReason(finish_reason, calls.length > 0),
    stop_sequence: null,
    usage: messagesUsage(usage),
  }
}

/** Reasoning that its provider did not sign has an empty signature: the dialect wants one. */
function thoughts({ thinking_blocks, reasoning_content }: AssistantMessage): object[] {
  if (thinking_blocks && thinking_blocks.length > 0) {
    return thinking_blocks.map((block) => (block.type === 'thinking' ? { signature: '', ...block } : block))
  }
  return reasoning_content ? [{ type: 'thinking', thinking: reasoning_content, signature: '' }] : []
}

function words(text: string | null | undefined): object[] {
  return text ? [{ type: 'text', text }] : []
}

function toolUse({ id, function: { name, arguments: text } }: ToolCall): object {
  const input = text.trim() === '' ? {} : parseRecord(text)
  // Half a call passed off as a whole one would be acted upon.
  if (!input) throw new GatewayError('upstream_malformed', "The arguments of the provider's tool call are not JSON.")
  return { type: 'tool_use', id, name, input }
}
