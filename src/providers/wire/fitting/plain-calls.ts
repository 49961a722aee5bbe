import { digestOf } from '../../../lib/crypto.ts'
import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** The members that calls and messages have in answers of some vendors, and that clients send back as they are: OpenAI
 *  and others refuse them. */
export const OF_CALLS = ['extra_content', 'index'] as const
export const OF_MESSAGES = ['images'] as const
const DIGITS = 32

/** Messages without what only other vendors know of an answer and its calls, and with no longer ids of calls than
 *  `longestId`; the same list where nothing changes. */
export function withPlainCalls(messages: Messages, longestId = Number.POSITIVE_INFINITY): Messages {
  const isLong = (id: unknown) => asText(id).length > longestId
  const isPlain = (call: JsonRecord) => !isLong(call.id) && OF_CALLS.every((name) => call[name] === undefined)
  const isFitting = (message: Message) =>
    !isLong(message.tool_call_id) &&
    OF_MESSAGES.every((name) => message[name] === undefined) &&
    asList(message.tool_calls).every((call) => isPlain(asRecord(call)))
  if (messages.every(isFitting)) return messages

  const shortened = (id: unknown) => (isLong(id) ? digestOf(asText(id)).slice(0, DIGITS) : id)
  const plainCall = (value: unknown) => {
    const call = asRecord(value)
    if (isPlain(call)) return value
    return { ...without(call, OF_CALLS), id: shortened(call.id) }
  }
  return messages.map((message) => {
    if (isFitting(message)) return message
    const { tool_calls, tool_call_id } = message
    return {
      ...(without(message, OF_MESSAGES) as Message),
      ...(Array.isArray(tool_calls) ? { tool_calls: tool_calls.map(plainCall) } : {}),
      ...(isLong(tool_call_id) ? { tool_call_id: shortened(tool_call_id) } : {}),
    }
  })
}

function without(record: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}
