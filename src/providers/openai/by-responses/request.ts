import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { adapted, applyTable, carried, type FieldTable, refused } from '../../../modes/field-table.ts'
import { upstreamMetadata } from '../../wire/upstream-metadata.ts'
import { inputItems } from './items.ts'

/** Fields of chat that Responses has under the same name and in the same form. */
const CARRIED = [
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'service_tier',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
] as const

/** What becomes of the fields of chat. Only what asks for nothing may be without a place. */
const FIELDS: FieldTable = {
  ...Object.fromEntries(CARRIED.map((field) => [field, carried()])),
  model: carried(),
  store: carried(),
  metadata: adapted('as in chat'),
  stream: adapted("the gateway's own"),
  stream_options: adapted("the gateway's own"),
  messages: adapted('items', 'input'),
  tools: adapted('functions'),
  tool_choice: adapted('by name'),
  response_format: adapted('a format', 'text'),
  verbosity: adapted('beside the format', 'text'),
  reasoning_effort: adapted('its member', 'reasoning'),
  max_completion_tokens: carried('max_output_tokens'),
  max_tokens: carried('max_output_tokens'),
  n: refused([1]),
  logprobs: refused([false]),
  top_logprobs: refused([0]),
  presence_penalty: refused([0]),
  frequency_penalty: refused([0]),
}

/** The least limit that Responses takes. */
const LEAST_LIMIT = 16

/** Whether all tools of a request of chat are functions, and nothing that it asks for is known to chat alone. */
function isExpressible(body: ChatRequest): boolean {
  let hasPlaces = true
  const refuse = () => {
    hasPlaces = false
  }
  applyTable(body, FIELDS, { drop: refuse, refuse })
  return hasPlaces && body.tools?.every(({ type }) => type === 'function') === true
}

/** A request of chat in the words of Responses; undefined if it has none for a part of it. The provider keeps nothing unless
 *  the client says so, and its reasoning comes with the answer, encrypted. */
export function responsesRequest(
  body: ChatRequest,
  { model, streamed, reader }: { readonly model: string; readonly streamed: boolean; readonly reader: string },
): JsonRecord | undefined {
  const input = isExpressible(body) ? inputItems(body.messages, reader) : undefined
  if (!input) return undefined
  const { reasoning_effort: effort, metadata, store } = body
  const limit = body.max_completion_tokens ?? body.max_tokens
  const text = textOf(body)
  const fields: JsonRecord = {
    model,
    input,
    tools: body.tools?.map(toolOf),
    tool_choice: choiceOf(body.tool_choice),
    ...Object.fromEntries(CARRIED.map((field) => [field, body[field]])),
    max_output_tokens: typeof limit === 'number' ? Math.max(LEAST_LIMIT, limit) : undefined,
    reasoning: effort == null ? undefined : { effort },
    text: Object.keys(text).length === 0 ? undefined : text,
    metadata: metadata === undefined ? undefined : upstreamMetadata(body),
    store: store ?? false,
    include: ['reasoning.encrypted_content'],
    stream: streamed || undefined,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

/** Responses holds functions strictly to their schema unless it is told not to. */
export function toolOf(tool: unknown): JsonRecord {
  const { name, description, parameters, strict } = asRecord(asRecord(tool).function)
  return {
    type: 'function',
    name,
    ...(description == null ? {} : { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    strict: strict === true,
  }
}

function choiceOf(choice: unknown): unknown {
  const { type, function: named, allowed_tools: allowed } = asRecord(choice)
  if (type === 'function') return { type, name: asRecord(named).name }
  if (type !== 'allowed_tools') return choice
  const { mode, tools } = asRecord(allowed)
  return { type, mode, tools: asList(tools).map((tool) => ({ type: 'function', name: nameOf(tool) })) }
}

const nameOf = (tool: unknown) => asText(asRecord(asRecord(tool).function).name)

function textOf({ response_format, verbosity }: ChatRequest): JsonRecord {
  const { type, json_schema } = asRecord(response_format)
  return {
    ...(type === undefined ? {} : { format: type === 'json_schema' ? { type, ...asRecord(json_schema) } : { type } }),
    ...(verbosity == null ? {} : { verbosity }),
  }
}
