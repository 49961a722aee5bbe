import { digestOf } from '../../lib/crypto.ts'
import { asRecord, entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import type { Takes } from '../provider.ts'
import { withAllowedTools } from '../wire/fitting/allowed-tools.ts'
import { basicConversation } from '../wire/fitting/basic-conversation.ts'
import { withFormatInstruction } from '../wire/fitting/format-instruction.ts'
import { withTrimmedPrefill } from '../wire/fitting/prefill.ts'
import { withSchemaFormat } from '../wire/fitting/schema-format.ts'
import { enforcedSchema } from '../wire/schemas/enforced-schema.ts'
import { isRecursive } from '../wire/schemas/recursive-schema.ts'
import { refuseUnsupportedFields, unsupported } from '../wire/unsupported-fields.ts'
import { withAskedCall } from './asked-call.ts'
import { boundThoughts } from './bound-thoughts.ts'
import { claudeVersion } from './claude-version.ts'
import { takesInstructions, withEndOfUser, withLaterInstructions } from './later-instructions.ts'
import { messagesTools } from './messages-tools.ts'
import { messagesTurns } from './messages-turns.ts'
import { isBeforeOpus41, samplingFields } from './sampling.ts'
import { thinkingFields } from './thinking-fields.ts'

const API = 'the Messages API'

/** The limit of an answer whose thoughts are bounded apart: every model since Claude 3.5 can write as much. */
const ANSWER = 8192
/** The limit of models that decide how much they think, which counts towards it. Each can write twice as much. */
const ANSWER_WITH_THOUGHTS = 32_000

/** The limit if neither the client nor `default_params` sets one, since the API requires one. `thoughts`: the tokens of
 *  thought that are asked for. */
export function limitOf(model: string, thoughts: number): number {
  return Math.max(ANSWER + thoughts, claudeVersion(model) > 405 ? ANSWER_WITH_THOUGHTS : 0)
}

/** The API's alphabets. */
export const MESSAGES_TAKE: Takes = {
  functions: /^[a-zA-Z0-9_-]{1,128}$/,
  calls: { fits: /^[a-zA-Z0-9_-]+$/, length: 32 },
}

/** Fields that have the same meaning in both shapes, and the vendor's own. */
const SAME = ['cache_control', 'container', 'context_management', 'inference_geo', 'mcp_servers', 'speed']

const SUPPORTED = new Set([
  ...SAME,
  'temperature',
  'top_p',
  'top_k',
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'thinking',
  'output_config',
  'service_tier',
  'user',
  'safety_identifier',
])

/** Translates a chat request to the Messages API. */
export function messagesRequest(given: ChatRequest, model: string, drop: Drop = () => {}): JsonRecord {
  refuseUnsupportedFields(given, SUPPORTED, API, drop)
  const asked = withSchemaFormat(given)
  const instructed = needsFormatInstruction(asked.response_format, model) ? withFormatInstruction(asked, drop) : asked
  const body = withAskedCall(instructed, model, drop)
  const limit = numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens)
  const { effort, budget, ...fields } = thinkingFields(body, model, limit, drop)
  const { thinking, ...bound } = boundThoughts(body, fields.thinking, model)
  const said = withTrimmedPrefill(basicConversation(bound.messages, drop))
  const instructsLater = takesInstructions(model)
  const placed = instructsLater ? withLaterInstructions(said, true) : withEndOfUser(said, model)
  const { system, messages } = messagesTurns(placed, instructsLater)
  return {
    model,
    max_tokens: limit ?? limitOf(model, budget),
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...messagesTools(withAllowedTools(body, API), drop),
    ...samplingFields(body, model, thinks(thinking), drop),
    ...Object.fromEntries(SAME.filter((name) => isSet(body[name])).map((name) => [name, body[name]])),
    ...(thinking ? { thinking } : {}),
    ...outputConfig(body, effort),
    ...stopSequences(body.stop),
    ...serviceTier(body.service_tier, drop),
    ...userOf(body, drop),
    ...(body.stream === true ? { stream: true } : {}),
  }
}

/** Whether a model is asked to think. */
const thinks = (thinking: JsonRecord | undefined) => thinking !== undefined && thinking.type !== 'disabled'

const isSet = (value: unknown) => value !== undefined && value !== null
const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined)

function outputConfig(body: ChatRequest, effort: string | undefined): JsonRecord {
  const config = {
    ...asRecord(body.output_config),
    ...(effort === undefined ? {} : { effort }),
    ...outputFormat(body.response_format),
  }
  return Object.keys(config).length === 0 ? {} : { output_config: config }
}

function outputFormat(format: unknown): JsonRecord {
  if (!isSet(format)) return {}
  const { type, json_schema } = asRecord(format)
  if (type === 'text') return {}
  const { schema } = asRecord(json_schema)
  if (type === 'json_schema' && isRecord(schema)) return { format: { type, schema: enforcedSchema(schema) } }
  throw unsupported('response_format', API, 'Use type json_schema with a schema.')
}

/** Whether the format becomes an instruction: the API has none for JSON without a schema or with one that refers to itself,
 *  and earlier models have none. */
export function needsFormatInstruction(format: unknown, model: string): boolean {
  const { type, json_schema } = asRecord(format)
  if (type !== 'json_schema') return type === 'json_object'
  return isBeforeOpus41(model) || isRecursive(asRecord(json_schema).schema)
}

function stopSequences(stop: unknown): JsonRecord {
  const list = typeof stop === 'string' ? [stop] : stop
  if (!Array.isArray(list) || list.length === 0) return {}
  // The API refuses sequences of nothing but white space.
  if (list.some((one) => typeof one === 'string' && one.trim() === '')) {
    throw unsupported('stop', API, 'Stop at something that is more than white space.')
  }
  return { stop_sequences: list }
}

/** `auto` is the default. */
const TIERS: Readonly<Record<string, JsonRecord>> = {
  auto: {},
  default: { service_tier: 'standard_only' },
  standard_only: { service_tier: 'standard_only' },
}

function serviceTier(tier: unknown, drop: Drop): JsonRecord {
  if (!isSet(tier)) return {}
  const fields = entryOf(TIERS, tier)
  if (!fields) drop('service_tier')
  return fields ?? {}
}

/** The longest name of a user that the API takes. */
const LONGEST_USER = 256

function userOf({ user, safety_identifier }: ChatRequest, drop: Drop): JsonRecord {
  if (isSet(user) && isSet(safety_identifier)) drop('safety_identifier')
  const name = user ?? safety_identifier
  if (typeof name !== 'string' || name === '') return {}
  return { metadata: { user_id: name.length > LONGEST_USER ? digestOf(name) : name } }
}
