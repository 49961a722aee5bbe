import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const text = z.string()
const content = z.union([text, z.array(z.looseObject({ type: text }))])
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content }),
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({ role: z.literal('assistant'), content: content.nullish() }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: text }),
])

/** The parameters of a function are an object with properties, which may be none. */
const tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: text,
    parameters: z.looseObject({ type: z.literal('object'), properties: z.looseObject({}) }),
  }),
})

const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  reasoning_effort: text.nullish(),
  response_format: z.looseObject({ type: z.enum(['json_schema', 'text']) }).optional(),
  stop: z.union([text, z.array(text)]).nullish(),
  tools: z.array(tool).optional(),
  tool_choice: z.enum(['none', 'auto', 'required']).optional(),
})

/** LM Studio's server, whose errors are texts. */
export const lmstudio: StrictVendor = ({ body }, serial) => {
  const asked = checked(schema, body, ({ at, message }) => refused(`Invalid '${at}': ${message}`))
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  const id = `${String(serial).padStart(9, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning_content' })
}

function refused(error: string): Refusal {
  return new Refusal(400, { error })
}
