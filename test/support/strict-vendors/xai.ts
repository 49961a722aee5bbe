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

const schema = z.looseObject({
  ...chatFields,
  messages: z.array(z.looseObject({ role: z.enum(['system', 'user', 'assistant', 'tool', 'function']) })).min(1),
  reasoning_effort: z.enum(['low', 'medium', 'high', 'xhigh']).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(200)
    .optional(),
})

/** xAI's chat, with a model that always reasons. Its errors have their words in `error`. */
export const xai: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Incorrect API key provided: x.')
  const asked = checked(schema, body, ({ at, message }) => refused(`Invalid request content: ${at}: ${message}`))
  // Not even those that ask for nothing.
  for (const name of ['presence_penalty', 'frequency_penalty'] as const) {
    if (asked[name] != null) throw refused(`Model ${asked.model} does not support parameter ${name}.`)
  }
  for (const { role, content, tool_calls } of asked.messages) {
    if (typeof content !== 'string' && !Array.isArray(content)) {
      throw refused('Invalid request content: Each message must have at least one content element.')
    }
    if (role === 'assistant' && !(tool_calls as unknown[] | undefined)?.length && textOf(content) === '') {
      throw refused('An empty message was provided. Every message needs at least one non-empty content element.')
    }
  }
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  checkFunctions(functionsOf(chat), (why) => refused(why), 'tools')
  const id = `call_${String(serial).padStart(8, '0')}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning_content', tellsUsage: true })
}

function refused(error: string): Refusal {
  return new Refusal(400, { code: 'Client specified an invalid argument', error })
}
