import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { isObjectText, toldArguments } from '../wire/call-arguments.ts'
import { unsupported } from '../wire/unsupported-fields.ts'

/** The name of the API in refusals. */
export const COHERE = "Cohere's chat API"

/** Translates a conversation to Cohere's messages. */
export function cohereMessages(messages: ChatRequest['messages']): JsonRecord[] {
  return messages.map((message, index) => {
    const at = `messages.${index}`
    const { role, content } = message
    if (role === 'system' || role === 'developer') return { role: 'system', content: contentOf(content, at) }
    if (role === 'user') return { role, content: contentOf(content, at) }
    if (role === 'tool') return { role, tool_call_id: message.tool_call_id, content: toolContent(content, at) }
    if (role === 'assistant') return assistant(message, at)
    throw unsupported(`${at}.role`, COHERE)
  })
}

function contentOf(content: unknown, at: string): unknown {
  if (!Array.isArray(content)) return asText(content)
  return content.map((part, index) => {
    const { type, text, image_url } = asRecord(part)
    if (type === 'text') return { type, text }
    if (type === 'image_url') return { type, image_url: isRecord(image_url) ? image_url : { url: image_url } }
    throw unsupported(`${at}.content.${index}.type`, COHERE, 'Send text and images.')
  })
}

/** Tool results may contain documents, which Cohere cites. */
function toolContent(content: unknown, at: string): unknown {
  if (!Array.isArray(content)) return asText(content)
  return content.map((part, index) => {
    const { type, text, document } = asRecord(part)
    if (type === 'text') return { type, text }
    if (type === 'document') return { type, document }
    throw unsupported(`${at}.content.${index}.type`, COHERE, 'Send text and documents.')
  })
}

/** Reasoning before tool calls is the tool plan; other reasoning is a part of the content. */
function assistant(message: JsonRecord, at: string): JsonRecord {
  const calls = asList(message.tool_calls)
  const thought = asText(message.reasoning_content)
  const text = contentOf(message.content ?? message.refusal, at)
  if (calls.length > 0) {
    const tool_calls = calls.map((call) => {
      const { id, function: called } = asRecord(call)
      return { id, type: 'function', function: written(asRecord(called)) }
    })
    return {
      role: 'assistant',
      tool_calls,
      ...(thought === '' ? {} : { tool_plan: thought }),
      ...(text === '' ? {} : { content: text }),
    }
  }
  if (thought === '') return { role: 'assistant', content: text }
  const parts = typeof text === 'string' ? [{ type: 'text', text }] : asList(text)
  return { role: 'assistant', content: [{ type: 'thinking', thinking: thought }, ...parts] }
}

/** Cohere requires the arguments as the text of an object, even if there are none. */
function written(called: JsonRecord): JsonRecord {
  const { arguments: given } = called
  return isObjectText(given) ? called : { ...called, arguments: JSON.stringify(toldArguments(given)) }
}
