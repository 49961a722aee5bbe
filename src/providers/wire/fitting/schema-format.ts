import { asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'

/** A request whose format has its schema in OpenAI's form. */
export function withSchemaFormat(body: ChatRequest): ChatRequest {
  const response_format = schemaFormat(body.response_format)
  return response_format ? { ...body, response_format } : body
}

/** A format with a schema in OpenAI's form: servers of open models take the schema beside the type, and Perplexity one
 *  without a name. Undefined where it is in that form, or has no schema. */
export function schemaFormat(format: unknown): JsonRecord | undefined {
  const { type, schema, json_schema } = asRecord(format)
  if (type !== 'json_schema' && type !== 'json_object') return undefined
  const described = type === 'json_schema' && isRecord(json_schema) ? json_schema : { schema }
  if (!isRecord(described.schema) || typeof described.name === 'string') return undefined
  return { type: 'json_schema', json_schema: { ...described, name: 'output' } }
}
