import * as z from 'zod'
import { answerTo } from './agent.ts'
import { checkFunctions, textOf } from './openai-chat.ts'
import { checked, cut, events, frame, Refusal, type StrictVendor, type Wrong, whole } from './vendor.ts'

const text = z.string()
const some = z.looseObject({})
const textPart = z.strictObject({ type: z.literal('text'), text })
const call = z.strictObject({
  id: text.min(1),
  type: z.literal('function'),
  function: z.strictObject({ name: text, arguments: text }),
})
const resultPart = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({ type: z.literal('document'), document: z.strictObject({ data: z.unknown(), id: text.optional() }) }),
])
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.union([text, z.array(textPart)]) }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([
      text,
      z.array(
        z.discriminatedUnion('type', [textPart, z.strictObject({ type: z.literal('image_url'), image_url: some })]),
      ),
    ]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z
      .union([
        text,
        z.array(
          z.discriminatedUnion('type', [textPart, z.strictObject({ type: z.literal('thinking'), thinking: text })]),
        ),
      ])
      .optional(),
    tool_calls: z.array(call).optional(),
    tool_plan: text.optional(),
    citations: z.array(some).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: text, content: z.union([text, z.array(resultPart)]) }),
])

/** The fields of `POST /v2/chat`, as Cohere's reference and the types of its client have them. */
const schema = z.strictObject({
  model: text,
  messages: z.array(message).min(1),
  stream: z.boolean().optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({
          name: text.max(256).regex(/^[a-zA-Z0-9_-]+$/),
          description: text.optional(),
          parameters: z.looseObject({ type: z.literal('object') }),
        }),
      }),
    )
    .optional(),
  strict_tools: z.boolean().optional(),
  documents: z.array(z.unknown()).optional(),
  citation_options: some.optional(),
  response_format: z.strictObject({ type: z.enum(['text', 'json_object']), json_schema: some.optional() }).optional(),
  safety_mode: z.enum(['CONTEXTUAL', 'STRICT', 'OFF']).optional(),
  max_tokens: z.int().min(1).max(32_000).optional(),
  stop_sequences: z.array(text).max(5).optional(),
  temperature: z.number().min(0).max(1).optional(),
  seed: z.int().min(0).optional(),
  frequency_penalty: z.number().min(0).max(1).optional(),
  presence_penalty: z.number().min(0).max(1).optional(),
  k: z.int().min(0).max(500).optional(),
  p: z.number().min(0.01).max(0.99).optional(),
  logprobs: z.boolean().optional(),
  tool_choice: z.enum(['REQUIRED', 'NONE']).optional(),
  thinking: z
    .strictObject({ type: z.enum(['enabled', 'disabled']), token_budget: z.int().min(1).optional() })
    .optional(),
  priority: z.int().optional(),
})
type Body = z.output<typeof schema>

/** Cohere's chat, with a model that tells its plan before a call. */
export const cohere: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('no api key supplied', 401)
  const asked = checked(schema, body, inWordsOfCohere)
  checkTurns(asked)
  const tools = (asked.tools ?? []).map((one) => ({ ...one.function, schema: one.function.parameters }))
  checkFunctions(tools, (why) => refused(`invalid request: ${why}`), 'tools')
  if (asked.response_format?.json_schema && tools.length > 0) {
    throw refused('invalid request: response_format is not supported with tools')
  }
  const newest = asked.messages.at(-1)?.content
  const parts = Array.isArray(newest)
    ? newest
        .map((part) => ('document' in part ? JSON.stringify(part.document).replaceAll('\\n', '\n') : textOf([part])))
        .join('\n')
    : textOf(newest)
  const said = answerTo({
    tools,
    newest: parts,
    choice: asked.tool_choice === 'NONE' ? 'none' : 'auto',
    format: asked.response_format?.json_schema,
  })
  const usage = { billed_units: { input_tokens: 50, output_tokens: 9 }, tokens: { input_tokens: 50, output_tokens: 9 } }
  const finish_reason = said.call ? 'TOOL_CALL' : 'COMPLETE'
  const called = said.call && {
    id: `${said.call.name}_${1000 + serial}`,
    type: 'function',
    function: { name: said.call.name, arguments: JSON.stringify(said.call.arguments) },
  }
  const spoken = called ? undefined : (said.text ?? '')
  if (!asked.stream) {
    const content = spoken === undefined ? [] : [{ type: 'text', text: spoken }]
    const message = { role: 'assistant', content, ...(called ? { tool_plan: said.text, tool_calls: [called] } : {}) }
    return whole({ id: `c-${serial}`, finish_reason, message, usage })
  }
  const tell = (type: string, more: object = {}) => frame({ type, ...more }, type)
  const delta = (type: string, message: object, index?: number) =>
    tell(type, { ...(index === undefined ? {} : { index }), delta: { message } })
  const pieces = [
    tell('message-start', {
      id: `c-${serial}`,
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
    }),
  ]
  if (spoken !== undefined) {
    pieces.push(delta('content-start', { content: { type: 'text', text: '' } }, 0))
    pieces.push(...cut(spoken).map((piece) => delta('content-delta', { content: { text: piece } }, 0)))
    pieces.push(tell('content-end', { index: 0 }))
  }
  if (called) {
    const { arguments: given, name } = called.function
    pieces.push(...cut(said.text ?? '').map((piece) => delta('tool-plan-delta', { tool_plan: piece })))
    pieces.push(delta('tool-call-start', { tool_calls: { ...called, function: { name, arguments: '' } } }, 0))
    pieces.push(
      ...cut(given).map((piece) => delta('tool-call-delta', { tool_calls: { function: { arguments: piece } } }, 0)),
    )
    pieces.push(tell('tool-call-end', { index: 0 }))
  }
  return events([...pieces, tell('message-end', { delta: { finish_reason, usage } })])
}

function checkTurns({ messages, tools }: Body): void {
  let open: string[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) {
        throw refused(
          `invalid request: cannot find a tool call with id ${message.tool_call_id} before messages[${index}]`,
        )
      }
      open = open.filter((id) => id !== message.tool_call_id)
      continue
    }
    if (open.length > 0) {
      throw refused("invalid request: an assistant message with 'tool_calls' must be followed by tool messages")
    }
    if (message.role !== 'assistant') continue
    if (textOf(message.content) === '' && !message.tool_calls?.length) {
      throw refused(`invalid request: messages[${index}]: all elements in history must have a message or tool calls`)
    }
    if (message.tool_calls?.length && !tools?.length) {
      throw refused('invalid request: tools must be specified when tool calls are in the history')
    }
    open = (message.tool_calls ?? []).map(({ id }) => id)
  }
  const last = messages.at(-1)?.role
  if (last !== 'user' && last !== 'tool')
    throw refused('invalid request: the last message must be of the user or a tool')
}

function inWordsOfCohere({ at, unknown, missing, message }: Wrong): Refusal {
  if (unknown !== undefined) return refused(`unknown field: parameter '${at}' is not a valid field`, 422)
  return refused(`invalid request: ${at} ${missing ? 'is required' : message}`)
}

function refused(message: string, status = 400): Refusal {
  return new Refusal(status, { id: 'e-1', message })
}
