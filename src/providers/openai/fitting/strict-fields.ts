import { asRecord, isRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { isStrict } from '../../wire/schemas/strict-schema.ts'

/** The format and the tools of a translated request without the promise that an answer fits its schema, where vendors of
 *  OpenAI's shape refuse to give it. Other dialects promise it for more schemas. */
export function strictFields({ response_format, tools }: ChatRequest, drop: Drop): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  const { json_schema } = asRecord(response_format)
  if (isRecord(json_schema) && isLoose(json_schema, 'schema')) {
    changes.response_format = { ...asRecord(response_format), json_schema: { ...json_schema, strict: false } }
    drop('response_format')
  }
  if (tools?.some((tool) => isLoose(tool.function, 'parameters'))) {
    changes.tools = tools.map((tool) =>
      isLoose(tool.function, 'parameters')
        ? { ...tool, function: { ...asRecord(tool.function), strict: false } }
        : tool,
    )
    drop('tools.strict')
  }
  return changes
}

function isLoose(value: unknown, member: 'schema' | 'parameters'): boolean {
  const { strict, [member]: schema } = asRecord(value)
  return strict === true && !isStrict(schema)
}
