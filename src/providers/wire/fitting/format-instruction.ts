import { asRecord, isRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { INSTRUCTIONS } from './basic-conversation.ts'

/** The instruction for a model whose API has no format for JSON without a schema. */
const JSON_ONLY = 'Answer with one JSON object and nothing else: no explanation, and no code fence around it.'

/** A request with an instruction in the place of its format: for vendors without such a format, or without one beside
 *  functions. A schema that the vendor then does not enforce is named to `drop`. */
export function withFormatInstruction(body: ChatRequest, drop: Drop): ChatRequest {
  const { response_format, messages, ...rest } = body
  const { type, json_schema } = asRecord(response_format)
  if (type !== 'json_object' && type !== 'json_schema') return body
  if (type === 'json_schema') drop('response_format')
  const { schema } = asRecord(json_schema)
  const fits = isRecord(schema) ? ` It has to fit this JSON schema: ${JSON.stringify(schema)}` : ''
  const functions = body.tools?.length ? 'You may call functions first. ' : ''
  const content = functions + JSON_ONLY + fits
  // After the other instructions; if there are only instructions, before the last, which becomes the user's turn.
  const first = messages.findIndex(({ role }) => !INSTRUCTIONS.has(role))
  const instructed = [...messages]
  instructed.splice(first === -1 ? messages.length - 1 : first, 0, { role: 'system', content })
  return { ...rest, messages: instructed }
}
