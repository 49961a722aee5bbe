import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatOf, checkFunctions, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor, type Wrong } from './vendor.ts'

const text = z.string()
const some = z.looseObject({})
const textPart = z.strictObject({ type: z.literal('text'), text })
const part = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({ type: z.literal('image_url'), image_url: z.unknown() }),
  z.strictObject({ type: z.literal('document_url'), document_url: text, document_name: text.optional() }),
  z.strictObject({ type: z.literal('input_audio'), input_audio: z.unknown() }),
  z.strictObject({ type: z.literal('thinking'), thinking: z.array(some), closed: z.boolean().optional() }),
])
const content = z.union([text, z.array(part)])
const call = z.strictObject({
  id: text.regex(/^[a-zA-Z0-9]{9}$/, 'Tool call id must be a-z, A-Z, 0-9, with a length of 9.'),
  type: z.literal('function').optional(),
  function: z.strictObject({ name: text.regex(/^[a-zA-Z0-9_-]{1,64}$/), arguments: z.union([text, some]) }),
  index: z.int().optional(),
})
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content }),
  z.strictObject({ role: z.literal('user'), content }),
  z.strictObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    tool_calls: z.array(call).nullish(),
    prefix: z.boolean().optional(),
  }),
  z.strictObject({ role: z.literal('tool'), content, tool_call_id: text.nullish(), name: text.nullish() }),
])

/** The fields of `POST /v1/chat/completions`, as Mistral's reference has them. */
const schema = z.strictObject({
  model: text,
  messages: z.array(message).min(1),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  guardrails: z.array(some).nullish(),
  max_tokens: z.int().min(0).nullish(),
  metadata: some.nullish(),
  n: z.int().min(1).nullish(),
  parallel_tool_calls: z.boolean().optional(),
  prediction: some.optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  prompt_cache_key: text.nullish(),
  prompt_mode: text.nullish(),
  random_seed: z.int().min(0).nullish(),
  reasoning_effort: z.enum(['none', 'high']).nullish(),
  response_format: z
    .strictObject({
      type: z.enum(['text', 'json_object', 'json_schema']),
      json_schema: z
        .strictObject({
          name: text,
          description: text.nullish(),
          schema: some,
          strict: z.boolean().optional(),
        })
        .nullish(),
    })
    .optional(),
  safe_prompt: z.boolean().optional(),
  stop: z.union([text, z.array(text)]).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1.5).nullish(),
  tool_choice: z.union([z.enum(['auto', 'none', 'any', 'required']), some]).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function').optional(),
        function: z.strictObject({
          name: text.regex(/^[a-zA-Z0-9_-]{1,64}$/),
          description: text.optional(),
          parameters: some,
          strict: z.boolean().optional(),
        }),
      }),
    )
    .nullish(),
  top_p: z.number().gt(0).max(1).optional(),
})

/** Mistral's chat. */
export const mistral: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Unauthorized', 401)
  const asked = checked(schema, body, inWordsOfMistral)
  const { messages } = asked
  let open: string[] = []
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]?.role
    if (message.role === 'tool') {
      if (open.length === 0) throw refused(`Unexpected role 'tool' after role '${before}'`)
      open = open.filter((id) => id !== message.tool_call_id)
      continue
    }
    if (open.length > 0) throw refused('Not the same number of function calls and responses')
    if (before === 'tool' && message.role !== 'assistant') {
      throw refused(`Unexpected role '${message.role}' after role 'tool'`)
    }
    if (message.role !== 'assistant') continue
    const isEmpty = message.content == null || message.content.length === 0
    if (isEmpty && !message.tool_calls?.length) {
      throw refused('Assistant message must have either content or tool_calls, but not none.')
    }
    open = (message.tool_calls ?? []).map(({ id }) => id)
  }
  if (open.length > 0) throw refused('Not the same number of function calls and responses')
  const last = messages.at(-1)
  if (last?.role === 'system' || (last?.role === 'assistant' && !last.prefix)) {
    throw refused(`Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last.role}`)
  }
  checkFunctions(
    (asked.tools ?? []).map((one) => one.function),
    (why) => refused(why),
    'tools',
  )
  // What it has of chat's fields has the shape of chat.
  const chat = chatOf(asked)
  const id = String(serial).padStart(9, 'aB3dE6gH9').slice(-9)
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, tellsUsage: true })
}

function inWordsOfMistral({ at, unknown, missing, message }: Wrong): Refusal {
  const [type, msg] =
    unknown !== undefined
      ? ['extra_forbidden', 'Extra inputs are not permitted']
      : missing
        ? ['missing', 'Field required']
        : ['value_error', message]
  const detail = [{ type, loc: ['body', ...at.split('.')], msg }]
  return new Refusal(422, {
    object: 'error',
    message: { detail },
    type: 'invalid_request_error',
    param: null,
    code: null,
  })
}

function refused(message: string, status = 400): Refusal {
  const type = 'invalid_request_message_order'
  return new Refusal(status, { object: 'error', message, type, param: null, code: '3230' })
}
