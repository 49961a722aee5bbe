import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, checkFunctions, functionsOf, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const text = z.string()
const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: text }) }),
  z.looseObject({ type: z.literal('video_url'), video_url: z.looseObject({ url: text }) }),
  z.looseObject({ type: z.literal('audio_url'), audio_url: z.looseObject({ url: text }) }),
  z.looseObject({ type: z.literal('input_audio'), input_audio: z.looseObject({ data: text }) }),
])
/** Only users speak in parts. */
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: text }),
  z.looseObject({ role: z.literal('user'), content: z.union([text, z.array(part)]) }),
  z.looseObject({
    role: z.literal('assistant'),
    content: text.nullish(),
    tool_calls: z
      .array(z.looseObject({ id: text, function: z.looseObject({ name: text, arguments: text }) }))
      .optional(),
  }),
  z.looseObject({ role: z.literal('tool'), content: text, tool_call_id: text }),
])

/** The fields of chat as the types of Together's own client have them. */
const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  max_completion_tokens: z.undefined().optional(),
  logprobs: z.union([z.int(), z.boolean()]).optional(),
  reasoning_effort: z.enum(['low', 'medium', 'high']).optional(),
  stop: z.union([text, z.array(text)]).optional(),
  top_k: z.int().optional(),
})

/** Together's chat, which does not say what is wrong. */
export const together: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Invalid API key provided.', 401, 'invalid_api_key')
  const asked = checked(schema, body, ({ at, message }) => refused(`Input validation error (${at}: ${message})`))
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  checkFunctions(functionsOf(chat), (why) => refused(why), 'tools')
  const id = `call_${String(serial).padStart(24, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning', tellsUsage: true })
}

function refused(message: string, status = 400, code: string | null = null): Refusal {
  return new Refusal(status, { error: { message, type: 'invalid_request_error', param: null, code } })
}
