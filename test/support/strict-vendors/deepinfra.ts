import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, checkFunctions, functionsOf, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const text = z.string()
const pictured = z.array(z.looseObject({ type: text })).refine((parts) => parts.some(({ type }) => type !== 'text'))
/** Text is a string, also of a tool. */
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: text }),
  z.looseObject({ role: z.literal('user'), content: z.union([text, pictured]) }),
  z.looseObject({
    role: z.literal('assistant'),
    content: text.nullish(),
    tool_calls: z.array(z.looseObject({})).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), content: text, tool_call_id: text }),
])
const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  reasoning_effort: z.enum(['none', 'low', 'medium', 'high']).nullish(),
})

/** DeepInfra's chat, whose errors are those of a server in Python. */
export const deepinfra: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw new Refusal(401, { detail: { error: 'Unauthenticated' } })
  const asked = checked(schema, body, ({ at, message }) => refused(at, message))
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why, at) => refused(at, why))
  checkFunctions(functionsOf(chat), (why, at) => refused(at, why), 'tools')
  const id = `call_${String(serial).padStart(24, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning_content' })
}

function refused(at: string, msg: string): Refusal {
  return new Refusal(422, { detail: [{ type: 'value_error', loc: ['body', ...at.split('.')], msg }] })
}
