import { asRecord, isRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { INSTRUCTIONS } from './told-conversation.ts'

/** What a model is told whose API has no format for any JSON. */
const JSON_ONLY = 'Answer with one JSON object and nothing else: no explanation, and no code fence around it.'

/** A request whose format is an instruction instead: for vendors that have no such format, or not beside functions. A
 *  schema to which the model is not held any more is named to `drop`. */
export function withFormatTold(body: ChatRequest, drop: Drop): ChatRequest {
  const { response_format, messages, ...rest } = body
  const { type, json_schema } = asRecord(response_format)
  if (type !== 'json_object' && type !== 'json_schema') return body
  if (type === 'json_schema') drop('response_format')
  const { schema } = asRecord(json_schema)
  const fits = isRecord(schema) ? ` It has to fit this JSON schema: ${JSON.stringify(schema)}` : ''
  const functions = body.tools?.length ? 'You may call functions first. ' : ''
  const content = functions + JSON_ONLY + fits
  // Behind the other instructions, and never the last of nothing but instructions.
  const first = messages.findIndex(({ role }) => !INSTRUCTIONS.has(role))
  const told = [...messages]
  told.splice(first === -1 ? messages.length - 1 : first, 0, { role: 'system', content })
  return { ...rest, messages: told }
}
