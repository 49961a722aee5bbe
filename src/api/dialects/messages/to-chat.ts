import { asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { applyTable, type Drop } from '../../../modes/field-table.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { askedShare } from '../../../providers/anthropic/sampling.ts'
import { effortOfBudget } from '../../../providers/wire/fitting/nearest-effort.ts'
import { inexpressible } from '../inexpressible.ts'
import { effortAtTheEnd, toolsAtTheEnd } from './amid.ts'
import { MESSAGES_FIELDS, OUTPUT_FIELDS } from './fields.ts'
import { chatTools } from './tools.ts'
import { chatMessages } from './turns.ts'

/** A request of the Messages API as chat. Throws a 400 naming the first field that chat cannot express. */
export function toChat(request: MessagesRequest, drop: Drop = () => {}): ChatRequest {
  const refuse = (field: string) => {
    const message = `'${field}' needs a provider that speaks this dialect itself, and no deployment of this model does. Leave it out.`
    throw inexpressible(field, message)
  }
  applyTable(request, MESSAGES_FIELDS, { drop, refuse })
  applyTable(asRecord(request.output_config), OUTPUT_FIELDS, {
    drop: (field) => drop(`output_config.${field}`),
    refuse: (field) => refuse(`output_config.${field}`),
  })
  const { model, max_tokens, stream, stop_sequences, temperature, top_p, top_k, metadata, service_tier } = request
  return {
    model,
    messages: chatMessages(request, drop),
    // The newer name. The adapter of a vendor that knows only the older one translates it.
    ...defined({ max_completion_tokens: max_tokens, temperature, top_p: askedShare(top_p), top_k: askedShare(top_k) }),
    ...(stop_sequences && stop_sequences.length > 0 ? { stop: stop_sequences } : {}),
    ...chatTools({ ...request, tools: toolsAtTheEnd(request) }, drop),
    ...reasoning(request),
    ...responseFormat(request),
    ...defined({ user: metadata?.user_id }),
    ...(service_tier === 'standard_only' ? { service_tier: 'default' } : {}),
    ...(stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

function defined(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

/** Chat has named efforts instead of a number of tokens: the budget becomes the nearest one. */
function reasoning(request: MessagesRequest): JsonRecord {
  const { thinking } = request
  if (thinking?.type === 'disabled') return {}
  const effort = effortAtTheEnd(request)
  if (typeof effort === 'string') return { reasoning_effort: effort }
  if (thinking?.type !== 'enabled') return {}
  const budget = Number(thinking.budget_tokens)
  return { reasoning_effort: effortOfBudget(budget) }
}

function responseFormat({ output_config, output_format: older }: MessagesRequest): JsonRecord {
  const format = asRecord(output_config).format ?? older
  if (format === undefined || format === null) return {}
  const { type, schema } = asRecord(format)
  if (asText(type) !== 'json_schema' || !isRecord(schema)) {
    throw inexpressible('output_config.format', "'output_config.format': only json_schema with a schema is known.")
  }
  return { response_format: { type: 'json_schema', json_schema: { name: 'output', strict: true, schema } } }
}
