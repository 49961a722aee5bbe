import { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { exactRecord } from '../../../lib/json/exact-json.ts'
import { asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatCompletion } from '../../../modes/chat-completion.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { type ContentFields, contentFields } from '../content-fields.ts'
import { DIRECT, ending, messagesUsage, UNSIGNED } from './wire.ts'

/** A chat completion as a message. */
export function fromChat(
  { id, model, choices, usage }: ChatCompletion,
  { stop_sequences }: Pick<MessagesRequest, 'stop_sequences'>,
): object {
  const [choice] = Array.isArray(choices) ? choices : []
  if (!choice?.message) throw new GatewayError('upstream_malformed', "The provider's answer has no choice.")
  const fields = contentFields(choice.message)
  const { content, refusal } = fields
  const uses = fields.tool_calls.filter(isRecord).map(toolUse)
  const calls = uses.filter((use) => use !== undefined)
  // A client would execute an incomplete call. `length` tells it that the limit of tokens has cut the answer.
  if (calls.length < uses.length && choice.finish_reason !== 'length') {
    throw new GatewayError('unusable_answer', "The arguments of the model's tool call are not JSON.")
  }
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [...thinkingBlocks(fields), ...textBlocks(content), ...textBlocks(refusal), ...calls],
    ...ending(choice, calls.length > 0, stop_sequences),
    ...(refusal === '' ? {} : { stop_reason: 'refusal', stop_sequence: null }),
    usage: messagesUsage(usage),
  }
}

function thinkingBlocks({ thinking_blocks, reasoning_content }: ContentFields): object[] {
  if (thinking_blocks.length > 0) {
    return thinking_blocks.map((block) =>
      block.type === 'thinking' ? { ...block, signature: block.signature || UNSIGNED } : block,
    )
  }
  return reasoning_content === '' ? [] : [{ type: 'thinking', thinking: reasoning_content, signature: UNSIGNED }]
}

function textBlocks(text: string): object[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

/** Makes an id where a vendor leaves it out: the client refers to it in the call's result. */
function toolUse({ id, function: called }: JsonRecord): object | undefined {
  const { name, arguments: given } = asRecord(called)
  const input = inputOf(given)
  return input && { type: 'tool_use', id: asText(id) || newId('call'), name: asText(name), input, caller: DIRECT }
}

function inputOf(given: unknown): JsonRecord | undefined {
  if (isRecord(given)) return given
  const text = String(given ?? '')
  return text.trim() === '' ? {} : exactRecord(text)
}
