import { asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { inexpressible } from '../inexpressible.ts'
import { chatTools } from './tools.ts'
import { chatMessages } from './turns.ts'

const FIELDS = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'tools',
  'tool_choice',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'thinking',
  'metadata',
  'service_tier',
  'output_config',
  'cache_control',
])

/** The members of `output_config` that chat can express. */
const OUTPUT_FIELDS = new Set(['effort', 'format'])

/** A request of the Messages API as chat. Throws a 400 naming the first field that chat cannot express. */
export function toChat(request: MessagesRequest): ChatRequest {
  const unsupported = Object.keys(request).find((field) => !FIELDS.has(field) && isSet(request[field]))
  if (unsupported) {
    const message = `'${unsupported}' needs a provider that speaks this dialect itself, and no deployment of this model does. Leave it out.`
    throw inexpressible(unsupported, message)
  }
  const unknown = Object.entries(asRecord(request.output_config)).find(
    ([name, value]) => !OUTPUT_FIELDS.has(name) && isSet(value),
  )
  if (unknown) {
    const at = `output_config.${unknown[0]}`
    throw inexpressible(at, `'${at}' needs a provider that speaks this dialect itself. Leave it out.`)
  }
  const { model, max_tokens, stream, stop_sequences, temperature, top_p, top_k, metadata, service_tier } = request
  return {
    model,
    messages: chatMessages(request),
    // The newer name. The adapter of a vendor that knows only the older one translates it.
    ...defined({ max_completion_tokens: max_tokens, temperature, top_p, top_k }),
    ...(stop_sequences && stop_sequences.length > 0 ? { stop: stop_sequences } : {}),
    ...chatTools(request),
    ...reasoning(request),
    ...responseFormat(request),
    ...defined({ user: metadata?.user_id }),
    ...(service_tier === 'standard_only' ? { service_tier: 'default' } : {}),
    ...(stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

const isSet = (value: unknown) =>
  value !== undefined && value !== null && !(typeof value === 'object' && Object.keys(value).length === 0)

function defined(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

/** Chat has named efforts instead of a number of tokens: the budget becomes the nearest one. */
function reasoning({ thinking, output_config }: MessagesRequest): JsonRecord {
  const { effort } = asRecord(output_config)
  if (thinking?.type === 'disabled') return {}
  if (typeof effort === 'string') return { reasoning_effort: effort === 'max' ? 'xhigh' : effort }
  if (thinking?.type !== 'enabled') return {}
  const budget = Number(thinking.budget_tokens)
  return { reasoning_effort: budget <= 2048 ? 'low' : budget <= 8192 ? 'medium' : 'high' }
}

function responseFormat({ output_config }: MessagesRequest): JsonRecord {
  const { format } = asRecord(output_config)
  if (format === undefined || format === null) return {}
  const { type, schema } = asRecord(format)
  if (asText(type) !== 'json_schema' || !isRecord(schema)) {
    throw inexpressible('output_config.format', "'output_config.format': only json_schema with a schema is known.")
  }
  return { response_format: { type: 'json_schema', json_schema: { name: 'output', strict: true, schema } } }
}
