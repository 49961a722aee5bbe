import * as z from 'zod'
import { answerTo } from './agent.ts'
import { type ChatBody, chatAnswer, chatFields, questionOf } from './openai-chat.ts'
import { checked, Refusal, type StrictVendor } from './vendor.ts'

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])
const message = z.looseObject({ role: z.enum(['system', 'user', 'assistant']), content })

const schema = z.looseObject({
  ...chatFields,
  messages: z.array(message).min(1),
  reasoning_effort: z.enum(['minimal', 'low', 'medium', 'high']).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z.never().optional(),
})

/** Perplexity's chat, which searches and calls no functions; its users and its model speak by turns. */
export const perplexity: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Invalid API key', 'authentication', 401)
  const asked = checked(schema, body, ({ at, message }) => refused(`At body -> ${at}: ${message}`, 'invalid_parameter'))
  const roles = asked.messages.map(({ role }) => role)
  const spoken = roles.slice(roles.findIndex((role) => role !== 'system'))
  if (spoken.some((role, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'))) {
    throw refused('After the (optional) system message(s), user and assistant roles should be alternating.')
  }
  if (roles.at(-1) !== 'user') throw refused('Last message must have role `user`.')
  const chat = asked as unknown as ChatBody
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id: '', tellsUsage: true })
}

function refused(message: string, type = 'invalid_message', code = 400): Refusal {
  return new Refusal(code, { error: { message, type, code } })
}
