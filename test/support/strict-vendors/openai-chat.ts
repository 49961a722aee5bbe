import * as z from 'zod'
import { answerTo, type Question, type Said } from './agent.ts'
import { checked, cut, events, frame, Refusal, type Reply, type StrictVendor, type Wrong, whole } from './vendor.ts'

const text = z.string()
const some = z.looseObject({})
const textPart = z.strictObject({ type: z.literal('text'), text, prompt_cache_breakpoint: some.optional() })
const texts = z.union([text, z.array(textPart).min(1)])
const userPart = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: text, detail: text.optional() }) }),
  z.strictObject({ type: z.literal('input_audio'), input_audio: some }),
  z.strictObject({ type: z.literal('file'), file: some }),
])
const named = { name: text.optional() }
const call = z.discriminatedUnion('type', [
  z.strictObject({
    id: text.max(40),
    type: z.literal('function'),
    function: z.strictObject({ name: text, arguments: text }),
  }),
  z.strictObject({ id: text.max(40), type: z.literal('custom'), custom: z.strictObject({ name: text, input: text }) }),
])
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: texts, ...named }),
  z.strictObject({ role: z.literal('developer'), content: texts, ...named }),
  z.strictObject({ role: z.literal('user'), content: z.union([text, z.array(userPart).min(1)]), ...named }),
  z.strictObject({
    role: z.literal('assistant'),
    content: texts.nullish(),
    refusal: text.nullish(),
    audio: some.nullish(),
    tool_calls: z.array(call).min(1).optional(),
    function_call: some.nullish(),
    ...named,
  }),
  z.strictObject({ role: z.literal('tool'), content: texts, tool_call_id: text.max(40), ...named }),
])
const tool = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('function'),
    function: z.strictObject({
      name: text.max(64).regex(/^[a-zA-Z0-9_-]+$/),
      description: text.optional(),
      parameters: some.optional(),
      strict: z.boolean().nullish(),
    }),
  }),
  z.strictObject({ type: z.literal('custom'), custom: some }),
])

/** The fields of `POST /v1/chat/completions`, as OpenAI's reference and the types of its client have them. */
export const chatFields = {
  model: text,
  messages: z.array(message).min(1),
  audio: some.nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  function_call: z.unknown().optional(),
  functions: z.array(some).optional(),
  logit_bias: some.nullish(),
  logprobs: z.boolean().nullish(),
  max_completion_tokens: z.int().min(1).max(128_000).nullish(),
  max_tokens: z.int().min(1).max(128_000).nullish(),
  metadata: z.record(text.max(64), text.max(512)).nullish(),
  modalities: z.array(text).nullish(),
  moderation: some.nullish(),
  n: z.int().min(1).max(128).nullish(),
  parallel_tool_calls: z.boolean().optional(),
  prediction: some.nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  prompt_cache_key: text.max(64).nullish(),
  prompt_cache_options: some.optional(),
  prompt_cache_retention: text.nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name: text.max(64).regex(/^[a-zA-Z0-9_-]+$/),
          description: text.optional(),
          schema: some.optional(),
          strict: z.boolean().nullish(),
        }),
      }),
    ])
    .optional(),
  safety_identifier: text.max(64).nullish(),
  seed: z.int().nullish(),
  service_tier: text.nullish(),
  stop: z.union([text, z.array(text).max(4)]).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  tool_choice: z.unknown().optional(),
  tools: z.array(tool).max(128).optional(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  user: text.optional(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  web_search_options: some.optional(),
}

const schema = z.strictObject(chatFields)
export type ChatBody = z.output<typeof schema>

/** A body that another vendor's table of fields has accepted, in the types of chat. */
export const chatOf = (accepted: object) => accepted as ChatBody

export const functionsOf = ({ tools = [] }: ChatBody) =>
  tools.flatMap((one) => (one.type === 'function' ? [one.function] : []))

type Message = ChatBody['messages'][number]

/** OpenAI's chat, with a reasoning model behind it. */
export const openaiChat: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Missing bearer authentication in header', null, 401)
  const asked = checked(schema, body, inWordsOfOpenai)
  if (asked.max_tokens != null) {
    throw refused(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
    )
  }
  for (const name of ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'stop', 'logprobs'] as const) {
    const [value, usual] = [asked[name], { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 }]
    if (value != null && value !== (usual as Record<string, unknown>)[name]) {
      throw refused(`Unsupported parameter: '${name}' is not supported with this model.`, name)
    }
  }
  checkCalls(asked.messages, (message, at) => refused(message, at))
  checkFunctions(functionsOf(asked), (message, at) => refused(message, at, 400, 'invalid_function_parameters'), 'tools')
  return chatAnswer(asked, answerTo(questionOf(asked)), serial, { id: `call_${'x'.repeat(20)}${1000 + serial}` })
}

/** Every result answers a call of the turn before it, and every call has its result. */
export function checkCalls(messages: readonly Message[], refuse: (message: string, at: string) => Refusal): void {
  let open: string[] = []
  for (const [index, message] of messages.entries()) {
    const at = `messages.[${index}].role`
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) {
        throw refuse(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          at,
        )
      }
      open = open.filter((id) => id !== message.tool_call_id)
      continue
    }
    if (open.length > 0)
      throw refuse(`${UNANSWERED} The following tool_call_ids did not have response messages: ${open}`, at)
    if (message.role !== 'assistant') continue
    if (message.content == null && !message.tool_calls && message.refusal == null) {
      throw refuse("Invalid value for 'content': expected a string, got null.", `messages.[${index}].content`)
    }
    open = (message.tool_calls ?? []).map(({ id }) => id)
  }
  if (open.length > 0)
    throw refuse(`${UNANSWERED} The following tool_call_ids did not have response messages: ${open}`, '')
}

const UNANSWERED =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."

interface DescribedFunction {
  readonly name: string
  readonly parameters?: unknown
  readonly strict?: boolean | null | undefined
}

/** Parameters are an object; arrays have items; what is strict has all its properties required and no others. */
export function checkFunctions(
  functions: readonly DescribedFunction[],
  refuse: (message: string, at: string) => Refusal,
  list: string,
): void {
  for (const [index, { name, parameters, strict }] of functions.entries()) {
    if (parameters == null) continue
    const no = (why: string) => refuse(`Invalid schema for function '${name}': ${why}`, `${list}[${index}].parameters`)
    const { type } = parameters as { type?: unknown }
    if (type !== 'object') throw no(`schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`)
    walk(parameters, (one) => {
      if (one.type === 'array' && one.items === undefined) throw no('In context=(), array schema missing items.')
      if (!strict || one.type !== 'object') return
      if (one.additionalProperties !== false) {
        throw no("In context=(), 'additionalProperties' is required to be supplied and to be false.")
      }
      const required = one.required as string[] | undefined
      const lacking = Object.keys((one.properties as object | undefined) ?? {}).find((key) => !required?.includes(key))
      if (lacking) throw no(`In context=(), 'required' is required to be supplied … Missing '${lacking}'.`)
    })
  }
}

/** Every schema within a JSON schema. */
export function walk(schema: unknown, visit: (schema: Record<string, unknown>) => void): void {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return
  const one = schema as Record<string, unknown>
  visit(one)
  for (const key of ['properties', '$defs', 'definitions']) {
    for (const inner of Object.values((one[key] as object | undefined) ?? {})) walk(inner, visit)
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) for (const inner of (one[key] as unknown[]) ?? []) walk(inner, visit)
  walk(one.items, visit)
}

/** What the conversation has come to. */
export function questionOf({ messages, tools = [], tool_choice: choice, response_format: format }: ChatBody): Question {
  return {
    tools: tools.flatMap((one) =>
      one.type === 'function' ? [{ name: one.function.name, schema: one.function.parameters ?? {} }] : [],
    ),
    newest: newestOf(messages),
    choice: choice === 'none' ? 'none' : choice === 'required' ? 'any' : 'auto',
    format: format?.type === 'json_schema' ? format.json_schema.schema : undefined,
  }
}

/** What was said since the model spoke last, instructions aside. */
export function newestOf(messages: readonly { readonly role?: string; readonly content?: unknown }[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const since = messages.slice(last + 1).filter(({ role }) => role !== 'system' && role !== 'developer')
  return since.map(({ content }) => textOf(content)).join('\n')
}

/** The text of content that is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return ((content as { text?: string }[] | null | undefined) ?? []).map((part) => part.text ?? '').join('\n')
}

interface Manner {
  /** The id of a call. */
  readonly id: string
  /** The field for what the model thinks; it does not show it when absent. */
  readonly thoughts?: 'reasoning' | 'reasoning_content'
  /** Usage comes with the last chunk, asked or not. */
  readonly tellsUsage?: boolean
}

/** The answer in the shape of chat completions. */
export function chatAnswer(asked: ChatBody, said: Said, serial: number, { id, thoughts, tellsUsage }: Manner): Reply {
  const usage = { prompt_tokens: 50, completion_tokens: 9, total_tokens: 59 }
  const finish = said.call ? 'tool_calls' : 'stop'
  const called = said.call && {
    id,
    type: 'function',
    function: { name: said.call.name, arguments: JSON.stringify(said.call.arguments) },
  }
  const head = { id: `chatcmpl-${serial}`, created: 1_790_000_000, model: asked.model }
  const thought = thoughts ? { [thoughts]: said.thought } : {}
  if (!asked.stream) {
    const message = {
      role: 'assistant',
      content: said.text ?? null,
      ...thought,
      ...(called && { tool_calls: [called] }),
    }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
    return whole({ ...head, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
    frame({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...more,
    })
  const pieces = [chunk({ role: 'assistant', content: '' })]
  if (thoughts) pieces.push(...cut(said.thought).map((piece) => chunk({ [thoughts]: piece })))
  pieces.push(...cut(said.text ?? '').map((piece) => chunk({ content: piece })))
  if (called) {
    const { arguments: given, ...named } = called.function
    pieces.push(chunk({ tool_calls: [{ index: 0, ...called, function: { ...named, arguments: '' } }] }))
    pieces.push(...cut(given).map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })))
  }
  pieces.push(chunk({}, finish, tellsUsage ? { usage } : {}))
  if (asked.stream_options?.include_usage) {
    pieces.push(frame({ ...head, object: 'chat.completion.chunk', choices: [], usage }))
  }
  return events([...pieces, frame('[DONE]')])
}

function inWordsOfOpenai({ at, unknown, missing, message }: Wrong): Refusal {
  const param = at.replace(/\.(\d+)/g, '[$1]')
  if (unknown !== undefined) return refused(`Unknown parameter: '${param}'.`, param, 400, 'unknown_parameter')
  if (missing) return refused(`Missing required parameter: '${param}'.`, param, 400, 'missing_required_parameter')
  return refused(`Invalid '${param}': ${message}`, param, 400, 'invalid_value')
}

/** OpenAI's error shape. */
export function refused(message: string, param: string | null, status = 400, code: string | null = null): Refusal {
  return new Refusal(status, { error: { message, type: 'invalid_request_error', param, code } })
}
export { inWordsOfOpenai }
