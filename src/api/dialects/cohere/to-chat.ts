import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { CohereChatRequest } from '../../../modes/cohere/chat.ts'
import { applyTable, type Drop, unruled } from '../../../modes/field-table.ts'
import { effortOfBudget } from '../../../providers/wire/fitting/nearest-effort.ts'
import { inexpressible } from '../inexpressible.ts'
import { COHERE_FIELDS } from './fields.ts'

/** A request of Cohere's chat as chat. Throws a 400 naming the first field that chat cannot express. */
export function toChat(request: CohereChatRequest, drop: Drop = () => {}): ChatRequest {
  const isCiting = !UNCITED.has(asText(asRecord(request.citation_options).mode).toUpperCase())
  applyTable(request, COHERE_FIELDS, {
    drop: (field) => (isCiting || field !== 'citation_options') && drop(field),
    refuse(field) {
      if (field === 'documents' && !isCiting) return
      const instead = field === 'documents' ? 'Ask for no citations: `citation_options.mode` `OFF`.' : 'Leave it out.'
      const message = `'${field}' needs a provider that speaks this dialect itself, and no deployment of this model does. ${instead}`
      throw inexpressible(field, message)
    },
  })
  const { model, messages, stream, max_tokens, temperature, p, k, seed, stop_sequences } = request
  const { frequency_penalty, presence_penalty } = request
  return {
    ...(unruled(request, COHERE_FIELDS) as object),
    model,
    messages: withDocuments(messages.map(messageOf), request.documents),
    ...defined({ max_completion_tokens: max_tokens, temperature, top_p: p, top_k: k, seed }),
    ...defined({ frequency_penalty, presence_penalty }),
    ...(stop_sequences && stop_sequences.length > 0 ? { stop: stop_sequences } : {}),
    ...toolsOf(request),
    ...responseFormat(request.response_format),
    ...reasoning(request.thinking),
    ...(stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

/** The words for no citations. */
const UNCITED: ReadonlySet<string> = new Set(['OFF', 'DISABLED'])

/** Documents that are not cited are read before the last words of the user. */
function withDocuments(
  messages: ChatRequest['messages'],
  documents: CohereChatRequest['documents'],
): ChatRequest['messages'] {
  if (!documents || documents.length === 0) return messages
  const texts = documents.map((document) => (typeof document === 'string' ? document : JSON.stringify(document)))
  const told = { role: 'user', content: ['Documents to answer from:', ...texts].join('\n\n') }
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return messages.toSpliced(Math.max(0, last), 0, told)
}

function defined(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

type Message = CohereChatRequest['messages'][number]

function messageOf(message: Message, index: number): ChatRequest['messages'][number] {
  const { role, content } = message
  const at = `messages.${index}`
  if (role === 'assistant') return assistant(message, at)
  if (role === 'tool') return { role, tool_call_id: message.tool_call_id, content: resultOf(content, at) }
  if (role !== 'user' && role !== 'system') throw inexpressible(`${at}.role`, `'${at}.role' is no role of a turn.`)
  return {
    role,
    content: Array.isArray(content) ? content.map((part, nth) => partOf(part, `${at}.content.${nth}`)) : content,
  }
}

function partOf(part: JsonRecord, at: string): JsonRecord {
  const { type, text, image_url } = part
  if (type === 'text') return { type, text }
  if (type === 'image_url') return { type, image_url }
  throw inexpressible(`${at}.type`, `'${at}.type' is no part of a turn: send text and image_url.`)
}

/** A model's thoughts are beside its text in chat, and so is its plan before it calls tools. */
function assistant({ content, tool_calls, tool_plan }: Message, at: string): ChatRequest['messages'][number] {
  const parts = Array.isArray(content) ? content.map(asRecord) : [{ type: 'text', text: content }]
  const wrong = parts.findIndex(({ type }) => type !== 'text' && type !== 'thinking')
  if (wrong !== -1) throw inexpressible(`${at}.content.${wrong}.type`, `'${at}.content.${wrong}.type' is not known.`)
  const text = parts.map((part) => asText(part.text)).join('')
  const thoughts = asText(tool_plan) + parts.map((part) => asText(part.thinking)).join('')
  const calls = asList(tool_calls)
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(thoughts === '' ? {} : { reasoning_content: thoughts }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

/** Results of tools as text: a document is its data. */
function resultOf(content: Message['content'], at: string): string {
  if (!Array.isArray(content)) return content ?? ''
  const texts = content.map(({ type, text, document }, index) => {
    if (type === 'text') return asText(text)
    if (type !== 'document') throw inexpressible(`${at}.content.${index}.type`, 'Send text and documents.')
    const { data } = asRecord(document)
    return typeof data === 'string' ? data : JSON.stringify(data ?? document)
  })
  return texts.join('\n')
}

function toolsOf({ tools, tool_choice, strict_tools }: CohereChatRequest): JsonRecord {
  if (!tools || tools.length === 0) return {}
  const strict = (tool: JsonRecord) =>
    isRecord(tool.function) ? { ...tool, function: { ...tool.function, strict: true } } : tool
  return {
    tools: strict_tools === true ? tools.map(strict) : tools,
    ...(tool_choice ? { tool_choice: tool_choice.toLowerCase() } : {}),
  }
}

function responseFormat(format: CohereChatRequest['response_format']): JsonRecord {
  if (!format || format.type === 'text') return {}
  const schema = format.json_schema ?? format.schema
  if (!isRecord(schema)) return { response_format: { type: format.type } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'output', strict: true, schema } } }
}

function reasoning(thinking: CohereChatRequest['thinking']): JsonRecord {
  if (thinking?.type !== 'enabled') return {}
  const budget = thinking.token_budget
  if (budget == null) return { reasoning_effort: 'medium' }
  return { reasoning_effort: effortOfBudget(budget) }
}
