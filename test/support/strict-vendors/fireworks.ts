import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, checkFunctions, functionsOf, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const text = z.string()
const part = z.strictObject({
  type: text,
  text: text.nullish(),
  image_url: z.strictObject({ url: text, detail: text.nullish() }).nullish(),
})
const call = z.strictObject({
  id: text,
  type: text.optional(),
  function: z.strictObject({ name: text, arguments: text }),
  index: z.int().optional(),
})
/** What messages have, whatever their role. */
const message = z.strictObject({
  role: text,
  content: z.union([text, z.array(part)]).nullish(),
  reasoning_content: text.nullish(),
  tool_call_id: text.nullish(),
  tool_calls: z.array(call).nullish(),
  name: text.nullish(),
})

const {
  audio: _audio,
  modalities: _modalities,
  moderation: _moderation,
  prompt_cache_options: _options,
  prompt_cache_retention: _retention,
  safety_identifier: _identifier,
  store: _store,
  verbosity: _verbosity,
  web_search_options: _search,
  ...known
} = chatFields

/** The fields of chat as the types of Fireworks' own client have them. */
const schema = z.strictObject({
  ...known,
  messages: z.array(message).min(1),
  min_p: z.number().nullish(),
  prompt_cache_isolation_key: text.nullish(),
  reasoning_effort: z.enum(['none', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  thinking: z.looseObject({}).nullish(),
  top_k: z.int().min(0).max(100).nullish(),
})

/** Fireworks' chat, which refuses whatever it does not know. */
export const fireworks: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Unauthorized', 401)
  const asked = checked(schema, body, ({ at, unknown, message }) =>
    refused(unknown === undefined ? `${at}: ${message}` : `Extra inputs are not permitted, field: '${at}'`),
  )
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  checkFunctions(functionsOf(chat), (why) => refused(why), 'tools')
  const id = `call_${String(serial).padStart(24, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning_content', tellsUsage: true })
}

function refused(message: string, status = 400): Refusal {
  return new Refusal(status, { error: { object: 'error', type: 'invalid_request_error', message } })
}
