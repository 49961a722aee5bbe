import { asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { definedSchema } from '../../wire/schemas/defined-schema.ts'
import { functionSchema } from '../../wire/schemas/function-schema.ts'

/** The tools and the format of a request with schemas as Moonshot takes them, where they are not that already. */
export function definedSchemas(tools: ChatRequest['tools'], format: unknown): JsonRecord {
  const fitted = tools?.map((tool) => withMember(tool, 'function', withParameters))
  const response_format = isRecord(format) ? withFormat(format) : format
  return {
    ...(fitted?.some((tool, index) => tool !== tools?.[index]) ? { tools: fitted } : {}),
    ...(response_format === format ? {} : { response_format }),
  }
}

const withFormat = (format: JsonRecord) =>
  withMember(format, 'json_schema', (named) => withMember(named, 'schema', definedSchema))

/** The arguments of a function are an object. */
const withParameters = (named: JsonRecord) =>
  withMember(named, 'parameters', (given) =>
    definedSchema(given.type === 'object' ? given : functionSchema(given, false)),
  )

/** The record with one of its records changed; the same where that is. */
function withMember<Whole extends JsonRecord>(
  whole: Whole,
  name: string,
  change: (inner: JsonRecord) => JsonRecord,
): Whole {
  const before = whole[name]
  if (!isRecord(before)) return whole
  const after = change(asRecord(before))
  return after === before ? whole : { ...whole, [name]: after }
}
