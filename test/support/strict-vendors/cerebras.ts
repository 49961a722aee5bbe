import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, checkFunctions, functionsOf, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const text = z.string()
const part = z.strictObject({
  type: text,
  text: text.optional(),
  image_url: z.strictObject({ url: text, detail: text.optional() }).optional(),
})
const content = z.union([text, z.array(part)])
const name = text.optional()
const call = z.strictObject({
  id: text,
  type: z.literal('function'),
  function: z.strictObject({ name: text, arguments: text }),
})
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content, name }),
  z.strictObject({ role: z.literal('user'), content, name }),
  z.strictObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    reasoning: text.nullish(),
    name,
    tool_calls: z.array(call).nullish(),
  }),
  z.strictObject({ role: z.literal('tool'), content, tool_call_id: text, name }),
])

const {
  audio: _audio,
  metadata: _metadata,
  modalities: _modalities,
  moderation: _moderation,
  prompt_cache_key: _key,
  prompt_cache_options: _options,
  prompt_cache_retention: _retention,
  safety_identifier: _identifier,
  store: _store,
  verbosity: _verbosity,
  web_search_options: _search,
  ...known
} = chatFields

/** The fields of the types of Cerebras' own client. */
const schema = z.strictObject({
  ...known,
  messages: z.array(message).min(1),
  clear_thinking: z.boolean().nullish(),
  reasoning_effort: z.enum(['low', 'medium', 'high']).nullish(),
  reasoning_format: text.nullish(),
})

/** Cerebras' chat, which refuses whatever it does not know, in errors without an envelope. */
export const cerebras: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Wrong API Key', 'api_key', 401)
  const asked = checked(schema, body, ({ at, unknown, message }) =>
    refused(unknown === undefined ? `${at}: ${message}` : `${at}: property '${at}' is unsupported`, 'validation_error'),
  )
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why, 'messages'))
  const functions = functionsOf(chat)
  checkFunctions(functions, (why) => refused(why, 'tools'), 'tools')
  if (new Set(functions.map(({ strict }) => strict === true)).size > 1) {
    throw refused("Tools with mixed values for 'strict' are not allowed.", 'tools')
  }
  const id = `${String(serial).padStart(9, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning', tellsUsage: true })
}

function refused(message: string, param: string, status = 400): Refusal {
  return new Refusal(status, { message, type: 'invalid_request_error', param, code: 'wrong_api_format' })
}
