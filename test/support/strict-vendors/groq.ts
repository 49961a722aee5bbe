import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, checkFunctions, functionsOf, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const content = z.unknown()
const name = z.string().optional()
/** It refuses fields of messages that it does not know. */
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer']), content, name }),
  z.strictObject({ role: z.literal('user'), content, name }),
  z.strictObject({
    role: z.literal('assistant'),
    content: content.optional(),
    name,
    reasoning: z.string().nullish(),
    tool_calls: z.array(z.looseObject({ id: z.string() })).nullish(),
    function_call: z.unknown().optional(),
  }),
  z.strictObject({ role: z.literal('tool'), content, tool_call_id: z.string(), name }),
])
const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  n: z.literal(1).nullish(),
  logprobs: z.literal(false).nullish(),
  top_logprobs: z.null().optional(),
  logit_bias: z.null().optional(),
  reasoning_effort: z.enum(['low', 'medium', 'high']).nullish(),
})

/** Groq's chat, with GPT-OSS behind it. */
export const groq: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Invalid API Key', 401)
  const asked = checked(schema, body, ({ at, unknown, message }) =>
    refused(unknown === undefined ? `'${at}' : ${message}` : `'${at}' : property '${unknown}' is unsupported`),
  )
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  const { tools = [], response_format: format } = chat
  checkFunctions(functionsOf(chat), (why) => refused(why), 'tools')
  if (tools.length > 0 && format && format.type !== 'text') {
    throw refused('json mode cannot be combined with tool/function calling')
  }
  const id = `fc_${String(serial).padStart(8, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning' })
}

function refused(message: string, status = 400): Refusal {
  return new Refusal(status, { error: { message, type: 'invalid_request_error' } })
}
