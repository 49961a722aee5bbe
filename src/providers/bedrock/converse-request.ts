import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { withAskedCall } from '../anthropic/asked-call.ts'
import { betasOf, bindsThoughts, boundThoughts } from '../anthropic/bound-thoughts.ts'
import { withEndOfUser, withLaterInstructions } from '../anthropic/later-instructions.ts'
import { needsFormatInstruction } from '../anthropic/messages-request.ts'
import { type Sampling, samplingFields } from '../anthropic/sampling.ts'
import { withAllowedTools } from '../wire/fitting/allowed-tools.ts'
import { withCallAskedFor } from '../wire/fitting/asked-call.ts'
import { basicConversation } from '../wire/fitting/basic-conversation.ts'
import { withFormatInstruction } from '../wire/fitting/format-instruction.ts'
import { withTrimmedPrefill } from '../wire/fitting/prefill.ts'
import { withSchemaFormat } from '../wire/fitting/schema-format.ts'
import { stopsUpTo, temperatureUpToOne } from '../wire/fitting/within-range.ts'
import { enforcedSchema } from '../wire/schemas/enforced-schema.ts'
import { refuseUnsupportedFields, unsupported } from '../wire/unsupported-fields.ts'
import { withMarksFor, withUsualTime } from './cache-marks.ts'
import { converseMessages } from './converse-messages.ts'
import { CONVERSE } from './converse-name.ts'
import { reasoningFields } from './reasoning-fields.ts'
import { forbidsCalls, toolConfig, WITHOUT_CALLS } from './tool-config.ts'

/** Converse's own fields, which travel as they are. */
const OWN_FIELDS = [
  'guardrailConfig',
  'additionalModelResponseFieldPaths',
  'performanceConfig',
  'requestMetadata',
  'promptVariables',
] as const

const SUPPORTED: ReadonlySet<string> = new Set([
  ...OWN_FIELDS,
  'model',
  'messages',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'thinking',
  'service_tier',
  'additionalModelRequestFields',
])

export const CLAUDE = /anthropic\.claude/
/** Models that cannot be held to a schema. */
const WITHOUT_FORMATS = /(^|[./])(amazon|meta|ai21|cohere)\./
/** Models that cannot be made to call a tool. */
const UNFORCED = /(^|[./])(meta|ai21|cohere)\./
const WITHOUT_TOP_K = /(^|[./])meta\./
const MOST_STOPS = 2500
const NOVA = /(^|[./])amazon\.nova/
const MOST_STOPS_OF_NOVA = 4

/** Translates a chat request to Converse. */
export function converseRequest(given: ChatRequest, model: string, drop: Drop = () => {}): JsonRecord {
  refuseUnsupportedFields(given, SUPPORTED, CONVERSE, drop)
  const asked = withSchemaFormat(given)
  const tells = needsFormatInstruction(asked.response_format, model) || WITHOUT_FORMATS.test(model)
  const formatted = tells ? withFormatInstruction(asked, drop) : asked
  const instructed = UNFORCED.test(model) ? withCallAskedFor(formatted, drop) : withAskedCall(formatted, model, drop)
  const body = withMarksFor(instructed, model, drop)
  const { thinking, ...fields } = reasoningFields(body, model, drop)
  const bound = boundThoughts(body, isRecord(thinking) ? thinking : undefined, model)
  const reasoning = { ...fields, ...(bound.thinking ? { thinking: bound.thinking } : {}) }
  const told = CLAUDE.test(model) ? bound.messages : bound.messages.map(withoutThoughts)
  const said = withTrimmedPrefill(basicConversation(told, drop))
  const placed = bindsThoughts(model) ? withLaterInstructions(said, false) : withEndOfUser(said, model)
  const { messages, system } = converseMessages(placed)
  const instructions = forbidsCalls(body, messages) ? [...system, { text: WITHOUT_CALLS }] : system
  if (instructions !== system) drop('tool_choice')
  const { temperature, top_p, top_k } = sampling(body, model, reasoning, drop)
  const inferenceConfig = {
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    temperature,
    topP: top_p,
    stopSequences: stopsUpTo(NOVA.test(model) ? MOST_STOPS_OF_NOVA : MOST_STOPS, body.stop ?? undefined, drop),
  }
  const own = asRecord(body.additionalModelRequestFields)
  const betas = betasOf(reasoning.thinking)
  const modelFields = {
    ...(top_k == null ? {} : NOVA.test(model) ? { inferenceConfig: { topK: top_k } } : { top_k }),
    ...reasoning,
    ...own,
    ...(betas.length > 0 ? { anthropic_beta: [...new Set([...asList(own.anthropic_beta), ...betas])] } : {}),
  }
  return {
    messages: messages.map(({ role, content }) => ({ role, content: withUsualTime(content, model) })),
    ...(instructions.length > 0 ? { system: withUsualTime(instructions, model) } : {}),
    ...(Object.values(inferenceConfig).some((value) => value !== undefined) ? { inferenceConfig } : {}),
    ...toolConfig(withAllowedTools(body, CONVERSE), messages, drop),
    ...outputConfig(body.response_format),
    ...serviceTier(body.service_tier, drop),
    ...(Object.keys(modelFields).length > 0 ? { additionalModelRequestFields: modelFields } : {}),
    ...Object.fromEntries(OWN_FIELDS.filter((name) => body[name] != null).map((name) => [name, body[name]])),
  }
}

/** Only Claude takes thoughts that Claude has signed; others sign none. */
const withoutThoughts = ({ thinking_blocks: _thoughts, ...message }: ChatRequest['messages'][number]) => message

/** How an answer is sampled. Nova takes no settings beside its highest effort. */
function sampling(body: ChatRequest, model: string, reasoning: JsonRecord, drop: Drop): Sampling {
  if (CLAUDE.test(model)) {
    const { thinking } = reasoning
    return samplingFields(body, model, isRecord(thinking) && thinking.type !== 'disabled', drop)
  }
  const { top_p } = body
  const top_k = WITHOUT_TOP_K.test(model) ? undefined : body.top_k
  if (top_k !== body.top_k && body.top_k !== null) drop('top_k')
  if (asRecord(reasoning.reasoningConfig).maxReasoningEffort === 'high') {
    for (const field of ['temperature', 'top_p'] as const) if (body[field] != null) drop(field)
    return { top_k }
  }
  return { temperature: temperatureUpToOne(body.temperature ?? undefined, drop), top_p: top_p ?? undefined, top_k }
}

function outputConfig(format: unknown): JsonRecord {
  if (!isRecord(format) || format.type === 'text') return {}
  if (format.type !== 'json_schema') {
    throw unsupported('response_format', CONVERSE, 'Send a json_schema, or ask for JSON in the messages.')
  }
  const { name, description, schema } = asRecord(format.json_schema)
  if (!isRecord(schema)) {
    throw new GatewayError('invalid_request', 'A response format of type json_schema needs a schema.', {
      param: 'response_format.json_schema.schema',
    })
  }
  const jsonSchema = {
    // Bedrock requires the schema as a string.
    schema: JSON.stringify(enforcedSchema(schema)),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  }
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } }
}

const TIERS: ReadonlySet<unknown> = new Set(['priority', 'default', 'flex', 'reserved'])

function serviceTier(tier: unknown, drop: Drop): JsonRecord {
  if (tier == null || tier === 'auto') return {}
  if (TIERS.has(tier)) return { serviceTier: { type: tier } }
  drop('service_tier')
  return {}
}
