import { createHash } from 'node:crypto'
import * as z from 'zod'
import { answerTo } from './agent.ts'
import { newestOf, textOf, walk } from './openai-chat.ts'
import { checked, cut, events, frame, Refusal, repeated, type StrictVendor, type Wrong, whole } from './vendor.ts'

const text = z.string()
const some = z.looseObject({})
const filled = text.refine((one) => one.trim() !== '', 'text content blocks must contain non-whitespace text')
const cached = {
  cache_control: z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).nullish(),
}
const id = text.regex(/^[a-zA-Z0-9_-]+$/, "String should match pattern '^[a-zA-Z0-9_-]+$'")
const textBlock = z.strictObject({
  type: z.literal('text'),
  text: filled,
  citations: z.array(some).nullish(),
  ...cached,
})
const image = z.strictObject({ type: z.literal('image'), source: some, ...cached })
const document = z.strictObject({
  type: z.literal('document'),
  source: some,
  title: text.nullish(),
  context: text.nullish(),
  citations: some.nullish(),
  ...cached,
})
const result = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: id,
  content: z.union([text, z.array(z.discriminatedUnion('type', [textBlock, image, document]))]).optional(),
  is_error: z.boolean().optional(),
  ...cached,
})
const use = z.strictObject({
  type: z.literal('tool_use'),
  id,
  name: text.max(200).regex(/^[a-zA-Z0-9_-]+$/),
  input: some,
  caller: some.optional(),
  ...cached,
})
const thinking = z.strictObject({ type: z.literal('thinking'), thinking: text, signature: text })
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: text })
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.union([filled, z.array(textBlock).min(1)]) }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([filled, z.array(z.discriminatedUnion('type', [textBlock, image, document, result])).min(1)]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([filled, z.array(z.discriminatedUnion('type', [textBlock, use, thinking, redacted])).min(1)]),
  }),
])
const tool = z.union([
  z.strictObject({
    type: z.literal('custom').nullish(),
    name: text.max(128).regex(/^[a-zA-Z0-9_-]+$/),
    description: text.optional(),
    input_schema: z.looseObject({ type: z.literal('object') }),
    strict: z.boolean().optional(),
    eager_input_streaming: z.boolean().nullish(),
    defer_loading: z.boolean().optional(),
    input_examples: z.array(some).optional(),
    allowed_callers: z.array(text).optional(),
    ...cached,
  }),
  z.looseObject({ type: text.regex(/_20\d{6}$/), name: text }),
])
const choice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal('tool'), name: text, disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal('none') }),
])

const shown = {
  display: text.nullish(),
  block_binding: z.strictObject({ prefix_mismatch_behavior: z.enum(['error', 'drop_block']).nullish() }).nullish(),
}

/** The fields of `POST /v1/messages`, as Anthropic's reference and the types of its client have them. */
const schema = z.strictObject({
  model: text,
  messages: z.array(message).min(1),
  max_tokens: z.int().min(1).max(64_000),
  cache_control: cached.cache_control,
  container: z.unknown().optional(),
  context_management: z.strictObject({ edits: z.array(some).optional() }).nullish(),
  diagnostics: some.nullish(),
  inference_geo: text.nullish(),
  mcp_servers: z.array(some).optional(),
  metadata: z.strictObject({ user_id: text.max(512).nullish() }).optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.strictObject({ type: z.literal('json_schema'), schema: some }).nullish(),
      task_budget: some.nullish(),
    })
    .optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  speed: text.nullish(),
  stop_sequences: z.array(filled).optional(),
  stream: z.boolean().optional(),
  system: z.union([text, z.array(textBlock)]).optional(),
  temperature: z.number().min(0).max(1).optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024), ...shown }),
      z.strictObject({ type: z.literal('adaptive'), ...shown }),
      z.strictObject({ type: z.enum(['disabled', 'between_tools']) }),
    ])
    .optional(),
  tool_choice: choice.optional(),
  tools: z.array(tool).optional(),
  top_k: z.int().min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
})
type Body = z.output<typeof schema>

/** The version of the reference, and the one that the newest client names. */
const VERSIONS = ['2023-06-01', '2026-10-21']

/** Fields that are refused as unknown ones are, unless a header names the beta they are part of. */
const BETAS = { context_management: /context-management/, mcp_servers: /mcp-client/, container: /code-execution/ }

const counted = schema.omit({ max_tokens: true, stream: true })

/** Anthropic's Messages, with a model that thinks when it is told to. */
export const anthropic: StrictVendor = ({ path, headers, body }, serial) => {
  const version = headers['anthropic-version']
  if (version === undefined) throw refused('anthropic-version: header is required')
  if (!VERSIONS.includes(version)) throw refused(`anthropic-version: "${version}" is not a valid version`)
  if (headers['x-api-key'] === undefined && headers.authorization === undefined) {
    throw refused('x-api-key header is required', 401, 'authentication_error')
  }
  if (path.includes('/count_tokens')) {
    checked(counted, body, inWordsOfAnthropic)
    return whole({ input_tokens: 50 })
  }
  const asked = checked(schema, body, inWordsOfAnthropic)
  for (const [name, beta] of Object.entries(BETAS)) {
    if (asked[name as keyof typeof BETAS] != null && !beta.test(headers['anthropic-beta'] ?? '')) {
      throw refused(`${name}: Extra inputs are not permitted`)
    }
  }
  const binding = asked.thinking && 'block_binding' in asked.thinking ? asked.thinking.block_binding : undefined
  if (binding != null && !/thinking-binding-controls/.test(headers['anthropic-beta'] ?? '')) {
    throw refused(`thinking.${asked.thinking?.type}.block_binding: Extra inputs are not permitted`)
  }
  checkModel(asked)
  checkSampling(asked)
  checkTurns(asked)
  checkTools(asked)

  const results = asked.messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter((block) => block.type === 'tool_result'),
  )
  const said = answerTo({
    tools: (asked.tools ?? []).flatMap((one) =>
      'input_schema' in one ? [{ name: one.name, schema: one.input_schema }] : [],
    ),
    newest: textOf(results.at(-1)?.content) || newestOf(asked.messages),
    choice: asked.tool_choice?.type === 'none' ? 'none' : 'auto',
    format: asked.output_config?.format?.schema,
  })
  const thinks = asked.thinking ? asked.thinking.type !== 'disabled' : versionOf(asked.model) > 500
  const signature = signatureOf(said.thought, asked, asked.messages.length)
  const blocks = [
    ...(thinks ? [{ type: 'thinking', thinking: said.thought, signature } as const] : []),
    ...(said.text === undefined ? [] : [{ type: 'text', text: said.text } as const]),
    ...(said.call
      ? [
          {
            type: 'tool_use',
            id: `toolu_01${1000 + serial}`,
            name: said.call.name,
            input: said.call.arguments,
          } as const,
        ]
      : []),
  ]
  const usage = { input_tokens: 50, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 }
  const head = { id: `msg_01${serial}`, type: 'message', role: 'assistant', model: asked.model }
  const end = { stop_reason: said.call ? 'tool_use' : 'end_turn', stop_sequence: null }
  if (!asked.stream) return whole({ ...head, content: blocks, ...end, usage })

  const started = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  const tell = (type: string, more: object = {}) => frame({ type, ...more }, type)
  return events([
    tell('message_start', { message: started }),
    ...blocks.flatMap((block, index) => {
      const delta = (one: object) => tell('content_block_delta', { index, delta: one })
      const [opened, deltas] =
        block.type === 'thinking'
          ? [
              { ...block, thinking: '', signature: '' },
              [
                ...cut(block.thinking).map((piece) => delta({ type: 'thinking_delta', thinking: piece })),
                delta({ type: 'signature_delta', signature: block.signature }),
              ],
            ]
          : block.type === 'text'
            ? [{ ...block, text: '' }, cut(block.text).map((piece) => delta({ type: 'text_delta', text: piece }))]
            : [
                { ...block, input: {} },
                cut(JSON.stringify(block.input)).map((piece) =>
                  delta({ type: 'input_json_delta', partial_json: piece }),
                ),
              ]
      return [
        tell('content_block_start', { index, content_block: opened }),
        ...deltas,
        tell('content_block_stop', { index }),
      ]
    }),
    tell('message_delta', { delta: end, usage: { output_tokens: 9 } }),
    tell('message_stop'),
  ])
}

/** The version of Claude as one number, by the names since 4. */
const versionOf = (model: string) => {
  const [, major = 0, minor = 0] = /claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? []
  return Number(major) * 100 + Number(minor)
}

/** A thought's signature; since 5.1 also of what was said before it, except for thoughts and cache marks. */
function signatureOf(thought: string, { model, system, tools, messages }: Body, place: number): string {
  const signed = `Eu${Buffer.from(thought).toString('base64')}`
  if (versionOf(model) <= 500) return signed
  const said = messages.slice(0, place).map(({ role, content }) => ({
    role,
    content:
      typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : content.filter(({ type }) => !type.endsWith('thinking')),
  }))
  const before = JSON.stringify([system, tools, said], (name, value) => (name === 'cache_control' ? undefined : value))
  return `${signed}.${createHash('sha256').update(before).digest('base64')}`
}

/** What a model refuses that others take. */
function checkModel({ model, messages, temperature, thinking: mode, tool_choice, top_k, top_p }: Body): void {
  const version = versionOf(model)
  const takesInstructions = version >= (model.includes('sonnet') ? 505 : 408)
  if (!takesInstructions && messages.some(({ role }) => role === 'system')) {
    throw refused("role 'system' is not supported on this model")
  }
  if (version >= 406 && messages.at(-1)?.role === 'assistant') {
    throw refused(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
  }
  if (version >= 407 && mode?.type === 'enabled') {
    throw refused('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".')
  }
  if (version < 406 && mode?.type === 'adaptive') throw refused('adaptive thinking is not supported on this model')
  if (version >= 407 && ((temperature ?? 1) !== 1 || (top_p ?? 1) !== 1 || top_k !== undefined)) {
    throw refused('`temperature` is deprecated for this model.')
  }
  if (version > 500 && !model.includes('haiku') && (tool_choice?.type === 'any' || tool_choice?.type === 'tool')) {
    throw refused('tool_choice: type "tool" and "any" are not supported for this model.')
  }
}

function checkSampling({ thinking: mode, temperature, top_p, top_k, max_tokens, tool_choice }: Body): void {
  if (temperature !== undefined && top_p !== undefined) {
    throw refused('`temperature` and `top_p` cannot both be specified for this model. Please use only one.')
  }
  if (mode === undefined || mode.type === 'disabled') return
  if (temperature !== undefined && temperature !== 1) {
    throw refused('`temperature` may only be set to 1 when thinking is enabled.')
  }
  if (top_k !== undefined) throw refused('`top_k` must be unset when thinking is enabled.')
  if (top_p !== undefined && top_p < 0.95) {
    throw refused('`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.')
  }
  if (mode.type === 'enabled' && mode.budget_tokens >= max_tokens) {
    throw refused('`max_tokens` must be greater than `thinking.budget_tokens`.')
  }
  if (tool_choice?.type === 'any' || tool_choice?.type === 'tool') {
    throw refused('Thinking may not be enabled when tool_choice forces tool use.')
  }
}

/** Results answer the turn before them, at the beginning of theirs; what was thought has its true signature. */
function checkTurns(asked: Body): void {
  const { messages, model, thinking: mode, system } = asked
  if (messages[0]?.role !== 'user') throw refused('messages: first message must use the "user" role')
  let marks = typeof system === 'object' ? system.filter((block) => block.cache_control).length : 0
  let open: string[] = []
  const joined = joinTurns(messages)
  for (const [index, { role, blocks }] of joined.entries()) {
    marks += blocks.filter((block) => 'cache_control' in block && block.cache_control).length
    const answered = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
    const strange = answered.find((one) => !open.includes(one))
    if (strange !== undefined) {
      throw refused(
        `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${strange}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      )
    }
    const first = blocks.findIndex((block) => block.type !== 'tool_result')
    const isLate = blocks.some((block, at) => block.type === 'tool_result' && first !== -1 && at > first)
    const lacking = isLate ? open : open.filter((one) => !answered.includes(one))
    if (lacking.length > 0) {
      throw refused(
        `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
          `${lacking.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      )
    }
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    const [double] = repeated(open)
    if (double) throw refused(`messages.${index}: \`tool_use\` ids must be unique`)
    const isOfTheTurn = joined
      .slice(index + 1)
      .every((turn) => turn.blocks.some(({ type }) => type !== 'text') || turn.role === 'assistant')
    const opens = blocks[0]?.type ?? 'text'
    if (
      role === 'assistant' &&
      mode?.type === 'enabled' &&
      open.length > 0 &&
      isOfTheTurn &&
      !opens.includes('thinking')
    ) {
      throw refused(
        `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${opens}\`. ` +
          'When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost ' +
          'set of `tool_use` and `tool_result` blocks).',
      )
    }
  }
  if (open.length > 0)
    throw refused(`messages.${joined.length - 1}: \`tool_use\` ids were found without \`tool_result\` blocks`)
  for (const [index, { role, content }] of messages.entries()) {
    const behind = messages.slice(index).find((turn) => turn.role !== 'system')
    const before = messages.slice(0, index).findLast((turn) => turn.role !== 'system')
    if (role === 'system' && (before?.role !== 'user' || behind?.role === 'user')) {
      throw refused(`messages.${index}: a system message must follow a user message and precede an assistant message`)
    }
    for (const [at, block] of typeof content === 'string' ? [] : content.entries()) {
      if (block.type !== 'thinking') continue
      const place = `messages.${index}.content.${at}: Invalid \`signature\` in \`thinking\` block`
      const own = signatureOf(block.thinking, asked, index)
      if (block.signature.split('.')[0] !== own.split('.')[0]) throw refused(place)
      const isDropped = mode && 'block_binding' in mode && mode.block_binding?.prefix_mismatch_behavior === 'drop_block'
      // Thoughts of earlier models are read.
      if (versionOf(model) > 500 && block.signature.includes('.') && block.signature !== own && !isDropped) {
        throw refused(`${place}. The block is bound to a different conversation. Remove the block, or set ...`)
      }
    }
  }
  if (marks > 4) throw refused(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`)
}

/** Turns of one role are read as one; instructions between them are of no turn. */
function joinTurns(messages: Body['messages']) {
  const turns: { role: string; blocks: Block[] }[] = []
  for (const { role, content } of messages) {
    if (role === 'system') continue
    const blocks: Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : [...content]
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, blocks })
  }
  return turns
}
type Block = Exclude<Body['messages'][number]['content'], string>[number]

function checkTools({ tools = [], tool_choice, messages }: Body): void {
  const names = tools.map(({ name }) => name)
  if (repeated(names).length > 0) throw refused('tools: Tool names must be unique.')
  if (tool_choice && tools.length === 0) throw refused('tool_choice may only be specified while providing tools.')
  if (tool_choice?.type === 'tool' && !names.includes(tool_choice.name)) {
    throw refused(`Tool '${tool_choice.name}' not found in provided tools`)
  }
  const hasCalls = messages.some(
    ({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'tool_use'),
  )
  if (hasCalls && tools.length === 0)
    throw refused('Requests which include `tool_use` or `tool_result` blocks must define tools')
  for (const [index, one] of tools.entries()) {
    if (!('input_schema' in one)) continue
    const at = `tools.${index}.custom.input_schema`
    const schema = one.input_schema as Record<string, unknown>
    const combined = ['oneOf', 'allOf', 'anyOf'].find((name) => name in schema)
    if (combined) throw refused(`${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`)
    walk(schema, ({ type }) => {
      if (typeof type === 'string' && type !== type.toLowerCase()) {
        throw refused(`${at}: JSON schema is invalid. It must match JSON Schema draft 2020-12`)
      }
    })
    for (const key of Object.keys((schema.properties as object | undefined) ?? {})) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) {
        throw refused(`${at}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`)
      }
    }
  }
}

function inWordsOfAnthropic({ at, unknown, missing, message }: Wrong): Refusal {
  return refused(
    `${at}: ${unknown !== undefined ? 'Extra inputs are not permitted' : missing ? 'Field required' : message}`,
  )
}

function refused(message: string, status = 400, type = 'invalid_request_error'): Refusal {
  return new Refusal(status, { type: 'error', error: { type, message }, request_id: 'req_01' })
}
