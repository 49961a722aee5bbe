import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const text = z.string()
const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: text }) }),
])
const call = z.looseObject({
  id: text,
  function: z.looseObject({ name: text, arguments: text.refine(isObjectInJson) }),
})
const message = z
  .looseObject({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.union([text, z.array(part)]).nullish(),
    reasoning: text.optional(),
    tool_calls: z.array(call).optional(),
  })
  .refine(({ content, tool_calls }) => content != null || tool_calls !== undefined, 'invalid message content type')
  // Each part becomes a message of its own, and the model sees them as turns.
  .refine(({ content }) => typeof content === 'string' || !content?.every(({ type }) => type === 'text'), 'torn apart')

const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  reasoning_effort: z.enum(['none', 'low', 'medium', 'high', 'max']).nullish(),
  stop: z.union([text, z.array(text)]).nullish(),
})

/** Ollama's chat in OpenAI's shape. */
export const ollama: StrictVendor = ({ body }, serial) => {
  const asked = checked(schema, body, ({ at, message }) => refused(`${at}: ${message}`))
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  const id = `call_${String(serial).padStart(8, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning' })
}

function isObjectInJson(json: string): boolean {
  try {
    return typeof JSON.parse(json) === 'object'
  } catch {
    return false
  }
}

function refused(message: string): Refusal {
  return new Refusal(400, { error: { message, type: 'invalid_request_error', param: null, code: null } })
}
