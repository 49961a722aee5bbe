import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { reasoningItems } from './own-reasoning.ts'

type Message = ChatRequest['messages'][number]

/** A conversation as the items of an input; undefined if it holds something that items cannot. Of the reasoning of earlier
 *  turns it has what its reader can read. */
export function inputItems(messages: ChatRequest['messages'], reader: string): JsonRecord[] | undefined {
  const items = messages.map((message) => itemsOf(message, reader))
  return items.every((some) => some !== undefined) ? items.flat() : undefined
}

function itemsOf(message: Message, reader: string): JsonRecord[] | undefined {
  if (message.role === 'assistant') return answerItems(message, reader)
  const parts = partsOf(message.content)
  if (!parts) return undefined
  if (message.role === 'tool') {
    const [only] = parts
    const output = parts.length === 1 && only?.type === 'input_text' ? only.text : parts
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output }]
  }
  const role = message.role === 'system' ? 'developer' : message.role
  return ROLES.has(role) ? [{ type: 'message', role, content: parts }] : undefined
}

const ROLES: ReadonlySet<string> = new Set(['developer', 'user'])

/** What the model has thought and said, and the functions that it has called. Thoughts alone are refused. */
function answerItems(message: Message, reader: string): JsonRecord[] | undefined {
  const { content, refusal, tool_calls } = message
  const calls = asList(tool_calls).map(asRecord)
  const texts = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content).map(asRecord)
  if (
    calls.some(({ type }) => type !== 'function') ||
    texts.some(({ type }) => type !== 'text' && type !== 'refusal')
  ) {
    return undefined
  }
  const said = texts.map((part) => asText(part.text ?? part.refusal)).join('') || asText(refusal)
  if (said === '' && calls.length === 0) return []
  return [
    ...reasoningItems(message, reader),
    ...(said === '' ? [] : [{ type: 'message', role: 'assistant', content: said }]),
    ...calls.map((call) => {
      const { name, arguments: written } = asRecord(call.function)
      return { type: 'function_call', call_id: call.id, name, arguments: written }
    }),
  ]
}

function partsOf(content: unknown): JsonRecord[] | undefined {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }]
  const parts = asList(content).map((part) => partOf(asRecord(part)))
  return parts.every((part) => part !== undefined) ? parts : undefined
}

function partOf(part: JsonRecord): JsonRecord | undefined {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  if (part.type === 'image_url') {
    // Clients of Mistral give the address alone.
    const { url = part.image_url, detail } = asRecord(part.image_url)
    return { type: 'input_image', image_url: url, detail: detail ?? 'auto' }
  }
  if (part.type !== 'file') return undefined
  const { file_data, file_id, filename } = asRecord(part.file)
  const named = filename == null ? {} : { filename }
  if (typeof file_data === 'string') return { type: 'input_file', file_data, ...named }
  return /^https?:/i.test(asText(file_id)) ? { type: 'input_file', file_url: file_id } : { type: 'input_file', file_id }
}
