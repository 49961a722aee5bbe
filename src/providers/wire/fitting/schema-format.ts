import { asRecord, isRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'

/** A request for JSON with a schema beside it, as servers of open models take it, in OpenAI's format for the same. */
export function withSchemaFormat(body: ChatRequest): ChatRequest {
  const { type, schema } = asRecord(body.response_format)
  if (type !== 'json_object' || !isRecord(schema)) return body
  return { ...body, response_format: { type: 'json_schema', json_schema: { name: 'output', schema } } }
}
