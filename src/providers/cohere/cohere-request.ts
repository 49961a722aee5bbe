import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { withAllowedTools } from '../wire/fitting/allowed-tools.ts'
import { basicConversation } from '../wire/fitting/basic-conversation.ts'
import { withFormatInstruction } from '../wire/fitting/format-instruction.ts'
import { withInstructionsFirst } from '../wire/fitting/instructions-first.ts'
import { withCallsTogether, withoutSilence, withTextResults } from '../wire/fitting/plain-conversation.ts'
import { withSchemaFormat } from '../wire/fitting/schema-format.ts'
import { withTextDocuments } from '../wire/fitting/text-documents.ts'
import { penaltyUpToOne, stopsUpTo, temperatureUpToOne } from '../wire/fitting/within-range.ts'
import { refuseUnsupportedFields, unsupported } from '../wire/unsupported-fields.ts'
import { COHERE, cohereMessages } from './cohere-messages.ts'

/** Cohere's own fields and those that it shares with the public shape; they are sent unchanged. */
const SAME_FIELDS = [
  'temperature',
  'seed',
  'documents',
  'citation_options',
  'safety_mode',
  'strict_tools',
  'priority',
] as const

const SUPPORTED: ReadonlySet<string> = new Set([
  ...SAME_FIELDS,
  'model',
  'messages',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'thinking',
])

const MOST_STOPS = 5
/** Chat's range is from 0 to 1. */
const LEAST_P = 0.01
const MOST_P = 0.99
const within = (least: number, value: unknown, most: number) =>
  typeof value === 'number' ? Math.min(most, Math.max(least, value)) : value

/** Models that refuse to be told how to think. */
const WITHOUT_THOUGHTS = /^(command(-r.*|-light.*|-nightly)?|command-a-(03-2025|vision.*|translate.*)|c4ai-.*)$/

/** Translates a chat request to Cohere's API. */
export function cohereRequest(sent: ChatRequest, model: string, drop: Drop = () => {}): JsonRecord {
  refuseUnsupportedFields(sent, SUPPORTED, COHERE, drop)
  const given = withCalledTools(sent)
  // It refuses a format beside tools or documents.
  const isAlone = asList(given.tools).length + asList(given.documents).length === 0
  const asked = withSchemaFormat(given)
  const body = isAlone ? asked : withFormatInstruction(asked, drop)
  const renamed = {
    max_tokens: body.max_completion_tokens ?? body.max_tokens,
    p: within(LEAST_P, body.top_p, MOST_P),
    k: body.top_k,
    temperature: temperatureUpToOne(body.temperature, drop),
    stop_sequences: stopsUpTo(MOST_STOPS, body.stop, drop),
    thinking: WITHOUT_THOUGHTS.test(model) ? unthought(body, drop) : thinkingOf(body),
    frequency_penalty: penaltyUpToOne(body, 'frequency_penalty', drop),
    presence_penalty: penaltyUpToOne(body, 'presence_penalty', drop),
  }
  const basic = withInstructionsFirst(withTextDocuments(basicConversation(body.messages, drop, true)))
  const messages = withTextResults(withCallsTogether(withoutSilence(basic, true)), 'document')
  return {
    model,
    messages: cohereMessages(messages),
    ...present(Object.fromEntries(SAME_FIELDS.map((name) => [name, body[name]]))),
    ...present(renamed),
    ...toolsOf(withAllowedTools(body, COHERE)),
    ...responseFormat(body.response_format),
  }
}

function present(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))
}

function thinkingOf({ thinking, reasoning_effort: effort }: ChatRequest): JsonRecord | undefined {
  if (isRecord(thinking)) {
    const { budget_tokens, ...rest } = thinking
    return budget_tokens === undefined ? rest : { ...rest, token_budget: budget_tokens }
  }
  if (effort == null) return undefined
  if (effort === 'none') return { type: 'disabled' }
  // Cohere's thinking is on or off, with an optional budget in tokens.
  return { type: 'enabled' }
}

function unthought({ thinking, reasoning_effort: effort }: ChatRequest, drop: Drop): undefined {
  if (isRecord(thinking) && thinking.type !== 'disabled') drop('thinking')
  if (effort != null && effort !== 'none') drop('reasoning_effort')
  return undefined
}

/** A request without tools whose conversation has called some offers those and forbids to call them, since Cohere refuses a
 *  conversation with tool calls without tools. */
function withCalledTools(body: ChatRequest): ChatRequest {
  if (body.tools?.length) return body
  const calls = body.messages.flatMap(({ tool_calls }) => asList(tool_calls))
  const names = new Set(calls.map((call) => asText(asRecord(asRecord(call).function).name)))
  if (names.size === 0) return body
  const tools = Array.from(names, (name) => ({ type: 'function', function: { name } }))
  return { ...body, tools, tool_choice: 'none' }
}

/** Cohere cannot require a particular tool, so only that tool is offered. */
function toolsOf({ tools, tool_choice: choice }: ChatRequest): JsonRecord {
  if (!tools || tools.length === 0) return {}
  let offered: readonly JsonRecord[] = tools
  let tool_choice: string | undefined
  if (choice === 'required') tool_choice = 'REQUIRED'
  else if (choice === 'none') tool_choice = 'NONE'
  else if (isRecord(choice)) {
    const { name } = asRecord(choice.function)
    offered = tools.filter((tool) => asRecord(tool.function).name === name)
    if (offered.length === 0) throw unsupported('tool_choice', COHERE, 'Name one of the functions in tools.')
    tool_choice = 'REQUIRED'
  }
  for (const [index, { type }] of tools.entries()) {
    if (type !== 'function') throw unsupported(`tools.${index}.type`, COHERE, 'Send tools of type function.')
  }
  const functions = offered.map((tool) => asRecord(tool.function))
  return {
    tools: functions.map(({ strict: _, parameters, ...rest }) => ({
      type: 'function',
      // Cohere requires parameters, even of a function without any.
      function: { ...rest, parameters: parameters ?? { type: 'object', properties: {} } },
    })),
    ...(tool_choice ? { tool_choice } : {}),
    ...(functions.some(({ strict }) => strict === true) ? { strict_tools: true } : {}),
  }
}

function responseFormat(format: unknown): JsonRecord {
  if (!isRecord(format) || format.type === 'text') return {}
  if (format.type === 'json_object') return { response_format: format }
  if (format.type !== 'json_schema') throw unsupported('response_format.type', COHERE)
  const { schema } = asRecord(format.json_schema)
  if (!isRecord(schema)) {
    throw new GatewayError('invalid_request', 'A response format of type json_schema needs a schema.', {
      param: 'response_format.json_schema.schema',
    })
  }
  return { response_format: { type: 'json_object', json_schema: schema } }
}
