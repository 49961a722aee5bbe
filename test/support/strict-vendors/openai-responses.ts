import * as z from 'zod'
import { answerTo, type Said } from './agent.ts'
import { checkFunctions, inWordsOfOpenai, refused, textOf } from './openai-chat.ts'
import { checked, cut, events, frame, type StrictVendor, whole } from './vendor.ts'

const text = z.string()
const some = z.looseObject({})
const status = z.enum(['in_progress', 'completed', 'incomplete']).nullish()
const name = text.max(128).regex(/^[a-zA-Z0-9_-]+$/)
const callId = text.min(1).max(64)
/** What Codex says about an item to the service itself. No reference has it. */
const passed = { internal_chat_message_metadata_passthrough: some.optional() }
const inputPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input_text'), text, prompt_cache_breakpoint: some.optional() }),
  z.strictObject({
    type: z.literal('input_image'),
    image_url: text.nullish(),
    file_id: text.nullish(),
    detail: text.optional(),
  }),
  z.strictObject({
    type: z.literal('input_file'),
    file_id: text.nullish(),
    file_data: text.optional(),
    file_url: text.optional(),
    filename: text.optional(),
    detail: text.optional(),
  }),
])
const outputPart = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('output_text'),
    text,
    annotations: z.array(some).optional(),
    logprobs: z.array(some).optional(),
  }),
  z.strictObject({ type: z.literal('refusal'), refusal: text }),
])
const id = text.max(64).optional()
const listed = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('function_call'), call_id: callId, name, arguments: text, id, status, ...passed }),
  z.strictObject({
    type: z.literal('function_call_output'),
    call_id: callId,
    output: z.union([text, z.array(inputPart)]),
    id: text.max(64).nullish(),
    status,
    ...passed,
  }),
  z.strictObject({ type: z.literal('custom_tool_call'), call_id: callId, name, input: text, id, status, ...passed }),
  z.strictObject({
    type: z.literal('custom_tool_call_output'),
    call_id: callId,
    output: z.union([text, z.array(inputPart)]),
    id,
    ...passed,
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: text.regex(/^rs_/).optional(),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text })),
    content: z.array(some).nullish(),
    encrypted_content: text.nullish(),
    status,
    ...passed,
  }),
  z.strictObject({ type: z.literal('item_reference'), id: text }),
])
const message = z.discriminatedUnion('role', [
  z.strictObject({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'system', 'developer']),
    content: z.union([text, z.array(inputPart)]),
    id: text.nullish(),
    status,
    ...passed,
  }),
  z.strictObject({
    type: z.literal('message').optional(),
    role: z.literal('assistant'),
    content: z.union([text, z.array(outputPart)]),
    id: text.regex(/^msg_/).optional(),
    status,
    phase: text.nullish(),
    ...passed,
  }),
])
const functionTool = z.strictObject({
  type: z.literal('function'),
  name,
  description: text.nullish(),
  parameters: some.nullish(),
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().optional(),
  output_schema: some.nullish(),
  allowed_callers: z.array(text).nullish(),
})
const tool = z.union([
  functionTool,
  z.looseObject({
    type: z.enum([
      'custom',
      'namespace',
      'web_search',
      'web_search_preview',
      'file_search',
      'code_interpreter',
      'image_generation',
      'local_shell',
      'shell',
      'apply_patch',
      'tool_search',
      'mcp',
      'computer',
    ]),
  }),
])

/** The fields of `POST /v1/responses`, as OpenAI's reference and the types of its client have them. */
const schema = z.strictObject({
  model: text,
  input: z.union([text, z.array(z.union([message, listed]))]),
  access_programs: some.optional(),
  background: z.boolean().nullish(),
  client_metadata: some.optional(),
  background_options: some.optional(),
  context_management: z.array(some).nullish(),
  conversation: z.unknown().optional(),
  include: z.array(text).nullish(),
  instructions: text.nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  max_tool_calls: z.int().nullish(),
  metadata: z.record(text.max(64), text.max(512)).nullish(),
  moderation: some.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  previous_response_id: text.nullish(),
  prompt: some.nullish(),
  prompt_cache_key: text.max(64).nullish(),
  prompt_cache_options: some.optional(),
  prompt_cache_retention: text.nullish(),
  reasoning: z
    .strictObject({
      effort: text.nullish(),
      summary: text.nullish(),
      generate_summary: text.nullish(),
      context: text.nullish(),
      mode: text.nullish(),
    })
    .nullish(),
  safety_identifier: text.max(64).nullish(),
  service_tier: text.nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  text: z.strictObject({ format: some.optional(), verbosity: text.nullish() }).optional(),
  tool_choice: z.unknown().optional(),
  tools: z.array(tool).max(128).optional(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  truncation: text.nullish(),
  user: text.optional(),
})

/** What the model has thought, as nobody else can make it. */
const encrypted = (thought: string) => `gAAAA${Buffer.from(thought).toString('base64')}`

/** OpenAI's Responses, with a reasoning model behind it. */
export const openaiResponses: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Missing bearer authentication in header', null, 401)
  const asked = checked(schema, body, inWordsOfOpenai)
  if (asked.temperature != null && asked.temperature !== 1) {
    throw refused("Unsupported parameter: 'temperature' is not supported with this model.", 'temperature')
  }
  const items = typeof asked.input === 'string' ? [] : asked.input
  const open = new Set<string>()
  for (const item of items) {
    if (item.type === 'function_call' || item.type === 'custom_tool_call') open.add(item.call_id)
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      if (!open.delete(item.call_id) && asked.previous_response_id == null) {
        throw refused(`No tool call found for function call output with call_id ${item.call_id}.`, 'input')
      }
    }
    if (item.type === 'reasoning' && item.encrypted_content != null && !item.encrypted_content.startsWith('gAAAA')) {
      throw refused('The encrypted content could not be verified.', null, 400, 'invalid_encrypted_content')
    }
  }
  if (open.size > 0) throw refused(`No tool output found for function call ${[...open][0]}.`, 'input')
  const functions = (asked.tools ?? []).filter((one): one is z.output<typeof functionTool> => one.type === 'function')
  checkFunctions(functions, (why, at) => refused(why, at, 400, 'invalid_function_parameters'), 'tools')

  const spoken = items.findLastIndex((item) => 'role' in item && item.role === 'assistant')
  const newest = items
    .slice(spoken + 1)
    .findLast((item) => 'output' in item || ('role' in item && item.role === 'user'))
  const format = asked.text?.format as { type?: string; schema?: unknown } | undefined
  const said = answerTo({
    tools: functions.map((one) => ({ name: one.name, schema: one.parameters ?? {} })),
    newest:
      newest === undefined
        ? String(asked.input)
        : textOf('output' in newest ? newest.output : 'content' in newest ? newest.content : ''),
    choice: asked.tool_choice === 'none' ? 'none' : 'auto',
    format: format?.type === 'json_schema' ? format.schema : undefined,
  })
  const response = (state: string, output: object[], usage: object | null) => ({
    id: `resp_${serial}`,
    object: 'response',
    created_at: 1_790_000_000,
    status: state,
    error: null,
    incomplete_details: null,
    instructions: asked.instructions ?? null,
    metadata: {},
    model: asked.model,
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: asked.tools ?? [],
    top_p: 1,
    usage,
  })
  const output = itemsOf(said, serial, asked.include?.includes('reasoning.encrypted_content') ?? false)
  const done = response('completed', output, {
    input_tokens: 50,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 59,
  })
  if (!asked.stream) return whole(done)

  const pieces: string[] = []
  const tell = (type: string, more: object) =>
    pieces.push(frame({ type, sequence_number: pieces.length, ...more }, type))
  tell('response.created', { response: response('in_progress', [], null) })
  tell('response.in_progress', { response: response('in_progress', [], null) })
  for (const [output_index, item] of output.entries()) {
    const at = { output_index, item_id: item.id }
    tell('response.output_item.added', { output_index, item: { ...item, ...begun(item) } })
    if (item.type === 'message') {
      const part = item.content[0]
      tell('response.content_part.added', { ...at, content_index: 0, part: { ...part, text: '' } })
      for (const delta of cut(part.text)) {
        tell('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] })
      }
      tell('response.output_text.done', { ...at, content_index: 0, text: part.text, logprobs: [] })
      tell('response.content_part.done', { ...at, content_index: 0, part })
    }
    if (item.type === 'function_call') {
      for (const delta of cut(item.arguments)) tell('response.function_call_arguments.delta', { ...at, delta })
      tell('response.function_call_arguments.done', { ...at, arguments: item.arguments })
    }
    tell('response.output_item.done', { output_index, item })
  }
  tell('response.completed', { response: done })
  return events(pieces)
}

function itemsOf({ thought, text: words, call }: Said, serial: number, isShown: boolean) {
  const state = { status: 'completed' } as const
  return [
    {
      id: `rs_${serial}`,
      type: 'reasoning' as const,
      summary: [],
      ...(isShown ? { encrypted_content: encrypted(thought) } : {}),
    },
    ...(words === undefined
      ? []
      : [
          {
            id: `msg_${serial}`,
            type: 'message' as const,
            role: 'assistant',
            ...state,
            content: [{ type: 'output_text', text: words, annotations: [], logprobs: [] }] as const,
          },
        ]),
    ...(call
      ? [
          {
            id: `fc_${serial}`,
            type: 'function_call' as const,
            ...state,
            call_id: `call_${'y'.repeat(20)}${1000 + serial}`,
            name: call.name,
            arguments: JSON.stringify(call.arguments),
          },
        ]
      : []),
  ]
}

const begun = (item: { readonly type: string }) =>
  item.type === 'message'
    ? { status: 'in_progress', content: [] }
    : item.type === 'function_call'
      ? { status: 'in_progress', arguments: '' }
      : {}
