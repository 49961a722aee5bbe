import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, checkFunctions, functionsOf, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const text = z.string()
const name = text.optional()
const marked = { cache_control: z.looseObject({ type: z.literal('ephemeral') }).optional() }
const textPart = z.looseObject({ type: z.literal('text'), text, ...marked })
const part = z.discriminatedUnion('type', [
  textPart,
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: text }) }),
  z.looseObject({ type: z.literal('input_audio'), input_audio: z.looseObject({ data: text }) }),
  z.looseObject({ type: z.enum(['video_url', 'input_video']), video_url: z.looseObject({ url: text }) }),
  z.looseObject({ type: z.literal('file'), file: z.looseObject({ file_data: name, file_id: name, filename: name }) }),
])
const texts = z.union([text, z.array(textPart)])
const parts = z.union([text, z.array(part)])
const call = z.looseObject({
  id: text,
  type: z.literal('function'),
  function: z.looseObject({ name: text, arguments: text }),
})
/** What it thought comes back as it was made, each piece under the type that it had. */
const detail = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('reasoning.text'), text: text.nullish(), signature: text.nullish() }),
  z.looseObject({ type: z.literal('reasoning.summary'), summary: text }),
  z.looseObject({ type: z.literal('reasoning.encrypted'), data: text }),
])
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content: texts, name }),
  z.looseObject({ role: z.literal('user'), content: parts, name }),
  z.looseObject({
    role: z.literal('assistant'),
    content: parts.nullish(),
    name,
    reasoning: text.nullish(),
    reasoning_details: z.array(detail).optional(),
    refusal: text.nullish(),
    tool_calls: z.array(call).optional(),
  }),
  z.looseObject({ role: z.literal('tool'), content: parts, tool_call_id: text }),
])

/** The fields of chat as the schemas of OpenRouter's own client have them. */
const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  tools: z
    .array(z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: text }), ...marked }))
    .optional(),
  reasoning: z.looseObject({ effort: text.nullish() }).optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  stop: z.union([text, z.array(text)]).nullish(),
})

/** OpenRouter's chat, which says that it is still there before it answers. */
export const openrouter: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('No auth credentials found', 401)
  const asked = checked(schema, body, ({ at, message }) => refused(`${at}: ${message}`))
  const { reasoning, reasoning_effort: effort } = asked
  if (reasoning?.effort != null && effort != null && reasoning.effort !== effort) {
    throw refused('reasoning_effort and reasoning.effort cannot differ')
  }
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  checkFunctions(functionsOf(chat), (why) => refused(why), 'tools')
  const id = `call_${String(serial).padStart(24, '0')}`
  const reply = chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning' })
  return chat.stream ? { ...reply, pieces: [': OPENROUTER PROCESSING\n\n', ...reply.pieces] } : reply
}

function refused(message: string, code = 400): Refusal {
  return new Refusal(code, { error: { message, code } })
}
