import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

/** Most of its models take text as a string alone, and want one in every message. */
const text = z.string()
const pictured = z.array(z.looseObject({ type: text })).refine((parts) => parts.some(({ type }) => type !== 'text'))
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: text }),
  z.looseObject({ role: z.literal('user'), content: z.union([text, pictured]) }),
  z.looseObject({ role: z.literal('assistant'), content: text, tool_calls: z.array(z.looseObject({})).nullish() }),
  z.looseObject({ role: z.literal('tool'), content: text, tool_call_id: text }),
])

const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  reasoning_effort: text.nullish(),
  stop: z.union([text, z.array(text)]).nullish(),
})

/** Chat with Cloudflare's Workers AI, whose errors are its platform's. */
export const cloudflare: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Authentication error', 10_000, 401)
  const asked = checked(schema, body, ({ at, message }) =>
    refused(`AiError: Bad input: Error: oneOf at '/' not met, 0 matches: '/${at.replaceAll('.', '/')}': ${message}`),
  )
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(`AiError: Bad input: ${why}`))
  const id = `chatcmpl-tool-${String(serial).padStart(32, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning_content' })
}

function refused(message: string, code = 5006, status = 400): Refusal {
  return new Refusal(status, { errors: [{ message, code }], success: false, result: {}, messages: [] })
}
