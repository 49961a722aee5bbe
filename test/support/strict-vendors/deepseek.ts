import * as z from 'zod'
import { answerTo } from './agent.ts'
import {
  chatAnswer,
  chatFields,
  chatOf,
  checkCalls,
  checkFunctions,
  functionsOf,
  questionOf,
  textOf,
} from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: z.unknown() }),
  z.looseObject({ role: z.literal('user'), content: z.unknown() }),
  z.looseObject({
    role: z.literal('assistant'),
    content: z.unknown().optional(),
    reasoning_content: z.string().nullish(),
    tool_calls: z.array(z.looseObject({ id: z.string() })).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), content: z.unknown(), tool_call_id: z.string() }),
])

const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  thinking: z.looseObject({ type: z.enum(['enabled', 'disabled']) }).nullish(),
  reasoning_effort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  response_format: z.looseObject({ type: z.enum(['text', 'json_object']) }).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.literal('function'),
        function: z.looseObject({ name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/) }),
      }),
    )
    .max(128)
    .optional(),
})

/** DeepSeek's chat. Its models think unless they are told not to, and refuse then what thinking does not go with. */
export const deepseek: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Authentication Fails', 401)
  const asked = checked(schema, body, ({ at, message }) => refused(`Failed to deserialize: ${at}: ${message}`, 422))
  const { messages, response_format: format } = asked
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  checkFunctions(functionsOf(chat), (why) => refused(why), 'tools')
  if (asked.thinking?.type !== 'disabled') {
    if (!isLeftToIt(asked.tool_choice)) throw refused('Thinking mode does not support this tool_choice')
    if (messages.some((one) => one.role === 'assistant' && one.tool_calls?.length && one.reasoning_content == null)) {
      throw refused('The `reasoning_content` in the thinking mode must be passed back to the API.')
    }
  }
  if (format?.type === 'json_object' && !messages.some(({ content }) => /json/i.test(textOf(content)))) {
    throw refused("Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.")
  }
  const id = `call_00_${String(serial).padStart(24, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning_content', tellsUsage: true })
}

/** Whether a model may choose not to call a function. */
export const isLeftToIt = (choice: unknown) => choice == null || choice === 'auto' || choice === 'none'

function refused(message: string, status = 400): Refusal {
  const type = 'invalid_request_error'
  return new Refusal(status, { error: { message, type, param: null, code: type } })
}
