import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { callArguments } from '../wire/call-arguments.ts'
import { unspoken } from '../wire/unspoken-fields.ts'

/** What refusals call this API. */
export const COHERE = "Cohere's chat API"

/** The conversation in Cohere's messages. */
export function cohereMessages(messages: ChatRequest['messages']): JsonRecord[] {
  return messages.map((message, index) => {
    const at = `messages.${index}`
    const { role, content } = message
    if (role === 'system' || role === 'developer') return { role: 'system', content: contentOf(content, at) }
    if (role === 'user') return { role, content: contentOf(content, at) }
    if (role === 'tool') return { role, tool_call_id: message.tool_call_id, content: toolContent(content, at) }
    if (role === 'assistant') return assistant(message, at)
    throw unspoken(`${at}.role`, COHERE)
  })
}

function contentOf(content: unknown, at: string): unknown {
  if (!Array.isArray(content)) return asText(content)
  return content.map((part, index) => {
    const { type, text, image_url } = asRecord(part)
    if (type === 'text') return { type, text }
    if (type === 'image_url') return { type, image_url: isRecord(image_url) ? image_url : { url: image_url } }
    throw unspoken(`${at}.content.${index}.type`, COHERE, 'Send text and images.')
  })
}

/** Results may hold documents, which Cohere cites. */
function toolContent(content: unknown, at: string): unknown {
  if (!Array.isArray(content)) return asText(content)
  return content.map((part, index) => {
    const { type, text, document } = asRecord(part)
    if (type === 'text') return { type, text }
    if (type === 'document') return { type, document }
    throw unspoken(`${at}.content.${index}.type`, COHERE, 'Send text and documents.')
  })
}

/** What a model thought on the way to its tool calls is its plan; elsewhere thoughts are parts of the content. */
function assistant(message: JsonRecord, at: string): JsonRecord {
  const calls = asList(message.tool_calls)
  const thought = asText(message.reasoning_content)
  const text = contentOf(message.content ?? message.refusal, at)
  if (calls.length > 0) {
    const tool_calls = calls.map((call, index) => {
      const { id, function: called } = asRecord(call)
      return { id, type: 'function', function: written(asRecord(called), `${at}.tool_calls.${index}`) }
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

/** Cohere wants the arguments as a text of JSON, also of a call that has none. */
function written(called: JsonRecord, at: string): JsonRecord {
  const { arguments: given } = called
  if (typeof given === 'string' && given.trim() !== '') return called
  const read = callArguments(given)
  if (!read) throw unspoken(`${at}.function.arguments`, COHERE, 'They must be a JSON object.')
  return { ...called, arguments: JSON.stringify(read) }
}
