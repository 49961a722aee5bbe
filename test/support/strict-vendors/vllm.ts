import * as z from 'zod'
import { answerTo } from './agent.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

/** Roles that templates of models know: `developer` is not among them. */
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: z.unknown() }),
  z.looseObject({ role: z.literal('user'), content: z.unknown() }),
  z.looseObject({ role: z.literal('assistant'), tool_calls: z.array(z.looseObject({})).nullish() }),
  z.looseObject({ role: z.literal('tool'), content: z.unknown(), tool_call_id: z.string() }),
])

/** A server of open models ignores what it does not know; what it knows it checks. */
const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  tools: z
    .array(z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }))
    .optional(),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.looseObject({ function: z.looseObject({ name: z.string() }) })])
    .nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
})

/** A server as vLLM is, with a model whose template takes one system message, at the beginning. */
export const vllm: StrictVendor = ({ body }, serial) => {
  const asked = checked(schema, body, ({ at, message }) => refused(`1 validation error: ${at}: ${message}`))
  const { messages } = asked
  const late = messages.findIndex(({ role }, index) => role === 'system' && index > 0)
  if (late !== -1) throw refused('System message must be at the beginning.')
  if (!messages.some(({ role }) => role === 'user')) {
    throw refused('No user query found in messages.')
  }
  const { tools, tool_choice: choice } = asked
  if (tools?.length === 0) throw refused('`tools` must not be an empty array.')
  if (choice != null && choice !== 'none' && !tools) throw refused('When using `tool_choice`, `tools` must be set.')
  if (asked.stream_options && !asked.stream) throw refused('Stream options can only be defined when `stream=True`.')
  if (asked.top_logprobs && !asked.logprobs) {
    throw refused('when using `top_logprobs`, `logprobs` must be set to true.')
  }
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  const id = `chatcmpl-tool-${String(serial).padStart(32, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning' })
}

function refused(message: string): Refusal {
  return new Refusal(400, { error: { message, type: 'BadRequestError', param: null, code: 400 } })
}
