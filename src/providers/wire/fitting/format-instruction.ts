import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { INSTRUCTIONS } from './basic-conversation.ts'

/** The instruction for a model whose API has no format for JSON without a schema. */
const JSON_ONLY = 'Answer with one JSON object and nothing else: no explanation, and no code fence around it.'

/** A request for JSON that says so in its messages, too: vendors of OpenAI's shape refuse others. `schemas`: the vendor can
 *  hold an answer to a schema; it is told of it otherwise. */
export function withJsonAskedFor(body: ChatRequest, schemas: boolean, drop: Drop): ChatRequest {
  const { type } = asRecord(body.response_format)
  const isPlain = type === 'json_object' && !body.messages.some(speaksOfJson)
  if (!isPlain && (schemas || type !== 'json_schema')) return body
  return { ...withFormatInstruction(body, drop), response_format: { type: 'json_object' } }
}

function speaksOfJson({ content }: JsonRecord): boolean {
  const texts = typeof content === 'string' ? [content] : asList(content).map((part) => asText(asRecord(part).text))
  return texts.some((text) => /json/i.test(text))
}

/** A request with an instruction in the place of its format: for vendors without such a format, or without one beside
 *  functions. A schema that the vendor then does not enforce is named to `drop`. */
export function withFormatInstruction(body: ChatRequest, drop: Drop): ChatRequest {
  const { response_format, messages, ...rest } = body
  const { type, json_schema } = asRecord(response_format)
  if (type !== 'json_object' && type !== 'json_schema') return body
  if (type === 'json_schema') drop('response_format')
  const { schema } = asRecord(json_schema)
  const fits = isRecord(schema) ? ` It has to fit this JSON schema: ${JSON.stringify(schema)}` : ''
  const functions = body.tools?.length && body.tool_choice !== 'none' ? 'You may call functions first. ' : ''
  return { ...rest, messages: instructed(messages, functions + JSON_ONLY + fits) }
}

/** A conversation with one more instruction: after the others, or if there are only instructions, before the last, which
 *  becomes the user's turn. */
export function instructed(messages: ChatRequest['messages'], content: string): ChatRequest['messages'] {
  const first = messages.findIndex(({ role }) => !INSTRUCTIONS.has(role))
  return messages.toSpliced(first === -1 ? messages.length - 1 : first, 0, { role: 'system', content })
}
