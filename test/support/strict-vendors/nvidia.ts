import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, checkFunctions, functionsOf, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const text = z.string()
const pictured = z.array(z.looseObject({ type: text })).refine((parts) => parts.some(({ type }) => type !== 'text'))
const call = z.strictObject({
  id: text,
  type: z.literal('function'),
  function: z.strictObject({ name: text, arguments: text }),
})
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: text, name: text.optional() }),
  z.strictObject({ role: z.literal('user'), content: z.union([text, pictured]), name: text.optional() }),
  z.strictObject({
    role: z.literal('assistant'),
    content: text.nullish(),
    reasoning_content: text.nullish(),
    tool_calls: z.array(call).min(1).optional(),
    name: text.optional(),
  }),
  z.strictObject({ role: z.literal('tool'), content: text, tool_call_id: text, name: text.optional() }),
])

const {
  audio: _audio,
  function_call: _call,
  functions: _functions,
  max_completion_tokens: _limit,
  metadata: _metadata,
  modalities: _modalities,
  moderation: _moderation,
  prediction: _prediction,
  prompt_cache_key: _key,
  prompt_cache_options: _options,
  prompt_cache_retention: _retention,
  safety_identifier: _identifier,
  service_tier: _tier,
  store: _store,
  user: _user,
  verbosity: _verbosity,
  web_search_options: _search,
  ...known
} = chatFields

const schema = z.strictObject({
  ...known,
  messages: z.array(message).min(1),
  stop: z.union([text, z.array(text)]).nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  chat_template_kwargs: z.looseObject({}).optional(),
})

/** NVIDIA's hosted NIM, which refuses whatever it does not know. */
export const nvidia: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Authentication failed', 401)
  const asked = checked(schema, body, ({ at, unknown, message }) =>
    refused(
      `body -> ${at.replaceAll('.', ' -> ')}: ${unknown === undefined ? message : 'Extra inputs are not permitted'}`,
    ),
  )
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  checkFunctions(functionsOf(chat), (why) => refused(why), 'tools')
  const id = `chatcmpl-tool-${String(serial).padStart(32, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning_content' })
}

function refused(detail: string, status = 400): Refusal {
  return new Refusal(status, {
    type: 'urn:inference-service:problem-details:bad-request',
    title: 'Bad Request',
    status,
    detail,
  })
}
