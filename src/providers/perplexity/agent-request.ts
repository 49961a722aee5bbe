import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { limitOf } from '../anthropic/messages-request.ts'
import { inputItems } from '../openai/by-responses/items.ts'
import { toolOf } from '../openai/by-responses/request.ts'
import { refuseUnsupportedFields, unsupported } from '../wire/unsupported-fields.ts'
import { SEARCH_FIELDS, searchOf } from './search.ts'

const API = "Perplexity's API"
/** Fields of chat that it has under the same name and in the same form. */
const CARRIED = ['temperature', 'top_p', 'max_steps', 'language_preference'] as const

/** They need a limit, as at their own vendor. */
const CLAUDE = /^anthropic\//

const SUPPORTED: ReadonlySet<string> = new Set([
  ...CARRIED,
  ...SEARCH_FIELDS,
  'model',
  'messages',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'max_tokens',
  'max_completion_tokens',
])

/** A request of chat in the words of its agents, which refuse every field that they do not know. */
export function agentRequest(body: ChatRequest, model: string, drop: Drop): JsonRecord {
  refuseUnsupportedFields(body, SUPPORTED, API, drop)
  const input = inputItems(body.messages, '')
  if (!input) throw unsupported('messages', API)
  const functions = functionsOf(body)
  const search = searchOf(body, model)
  const tools = [...functions, ...(search ? [search] : [])]
  const { reasoning_effort: effort, response_format: format } = body
  const fields: JsonRecord = {
    model,
    input: input.map(plainItem),
    ...Object.fromEntries(CARRIED.map((field) => [field, body[field]])),
    max_output_tokens:
      body.max_completion_tokens ?? body.max_tokens ?? (CLAUDE.test(model) ? limitOf(model, 0) : undefined),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: functions.length === 0 ? search && { type: search.type } : choiceOf(body.tool_choice),
    parallel_tool_calls: functions.length > 0 && body.parallel_tool_calls === false ? false : undefined,
    reasoning: effort == null ? undefined : { effort },
    response_format: asRecord(format).type === 'json_schema' ? format : undefined,
    store: false,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

function functionsOf({ tools }: ChatRequest): JsonRecord[] {
  const all = asList(tools).map(asRecord)
  if (all.some(({ type }) => type !== 'function')) throw unsupported('tools', API)
  return all.map(toolOf)
}

function choiceOf(choice: unknown): unknown {
  const { function: named } = asRecord(choice)
  return named === undefined ? choice : { name: asRecord(named).name }
}

/** An item without what agents do not know: they read pictures and texts, and results as texts. */
function plainItem(item: JsonRecord): JsonRecord {
  const { output, content } = item
  if (Array.isArray(output)) return { ...item, output: textsOf(output).join('\n\n') }
  return Array.isArray(content) ? { ...item, content: content.map(plainPart) } : item
}

function textsOf(parts: readonly unknown[]): string[] {
  return parts.map((part) => {
    const { type, text } = asRecord(part)
    if (type !== 'input_text') throw unsupported('messages', API)
    return asText(text)
  })
}

function plainPart(part: unknown): JsonRecord {
  const { type, text, image_url } = asRecord(part)
  if (type === 'input_text') return { type, text }
  if (type !== 'input_image') throw unsupported('messages', API)
  return { type, image_url }
}
