import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, isRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { AssistantMessage, ToolCall } from '../../modes/chat-completion.ts'
import type { Reply } from '../provider.ts'
import { wireUsage } from '../wire/wire-usage.ts'
import { cohereFinish } from './cohere-finish.ts'
import { cohereUsage } from './cohere-usage.ts'

/** Reads a whole answer. Its citations are dropped: the public shape has no place for them, and the text is complete without
 *  them. */
export function cohereReply(bytes: Uint8Array, model: string): Reply {
  const body = parseRecord(bytes)
  if (!body || !isRecord(body.message)) {
    throw new GatewayError('upstream_malformed', "The provider's answer is not one of Cohere's chat.")
  }
  const finish = cohereFinish(body.finish_reason)
  if (finish instanceof GatewayError) throw finish

  const parts = asList(body.message.content).map(asRecord)
  const text = parts.map((part) => asText(part.text)).join('')
  const reasoning = asText(body.message.tool_plan) + parts.map((part) => asText(part.thinking)).join('')
  const tool_calls = asList(body.message.tool_calls).map(asRecord).map(toolCall)
  const usage = cohereUsage(body.usage)
  const message: AssistantMessage = {
    role: 'assistant',
    content: text === '' && tool_calls.length > 0 ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  }
  return {
    completion: {
      id: asText(body.id),
      object: 'chat.completion',
      created: 0,
      model,
      choices: [{ index: 0, message, finish_reason: finish }],
      ...(usage ? { usage: wireUsage(usage) } : {}),
    },
    usage,
    outputCharacters: usage ? 0 : text.length + reasoning.length + JSON.stringify(tool_calls).length,
  }
}

function toolCall({ id, function: called }: Readonly<Record<string, unknown>>): ToolCall {
  const { name, arguments: written } = asRecord(called)
  return { id: asText(id), type: 'function', function: { name: asText(name), arguments: asText(written) || '{}' } }
}
