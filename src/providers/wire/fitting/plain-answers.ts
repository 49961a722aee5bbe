import { digestOf } from '../../../lib/crypto.ts'
import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { REASONING_FIELDS } from './reasoning-history.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** The members that calls, their functions and messages have in answers of some vendors, or that clients write into them
 *  (`parsed`), and that clients send back as they are: OpenAI and others refuse them. */
const OF_CALLS = ['extra_content', 'index'] as const
const OF_FUNCTIONS = ['parsed_arguments'] as const
const OF_MESSAGES = ['images', 'parsed', 'prefix'] as const
export const FOREIGN_MEMBERS: readonly string[] = [...OF_CALLS, ...OF_FUNCTIONS, ...OF_MESSAGES]
const DIGITS = 32

/** Messages without what only other vendors know of an answer and its calls, and with no longer ids of calls than
 *  `longestId`; the same list where nothing changes. */
export function withPlainCalls(messages: Messages, longestId = Number.POSITIVE_INFINITY): Messages {
  const isLong = (id: unknown) => asText(id).length > longestId
  const isPlain = (call: JsonRecord) =>
    !isLong(call.id) && hasNone(call, OF_CALLS) && hasNone(call.function, OF_FUNCTIONS)
  const isFitting = (message: Message) =>
    !isLong(message.tool_call_id) &&
    hasNone(message, ['images', 'parsed']) &&
    // Mistral's client says of every answer that it is whole.
    message.prefix !== false &&
    asList(message.tool_calls).every((call) => isPlain(asRecord(call)))
  if (messages.every(isFitting)) return messages

  const shortened = (id: unknown) => (isLong(id) ? digestOf(asText(id)).slice(0, DIGITS) : id)
  const plainCall = (value: unknown) => {
    const call = asRecord(value)
    if (isPlain(call)) return value
    const called = hasNone(call.function, OF_FUNCTIONS)
      ? {}
      : { function: without(asRecord(call.function), OF_FUNCTIONS) }
    return { ...without(call, OF_CALLS), ...called, id: shortened(call.id) }
  }
  return messages.map((message) => {
    if (isFitting(message)) return message
    const { images: _, parsed: _parsed, prefix, ...rest } = message
    const { tool_calls, tool_call_id } = rest
    return {
      ...rest,
      ...(prefix === true ? { prefix } : {}),
      ...(Array.isArray(tool_calls) ? { tool_calls: tool_calls.map(plainCall) } : {}),
      ...(isLong(tool_call_id) ? { tool_call_id: shortened(tool_call_id) } : {}),
    }
  })
}

const hasNone = (value: unknown, names: readonly string[]) => names.every((name) => asRecord(value)[name] === undefined)

/** What a message has beside its content. */
const BESIDE = new Set(['role', 'refusal', 'annotations', 'audio', 'function_call', 'tool_calls', ...OF_MESSAGES])
const isBeside = (name: string) => BESIDE.has(name) || REASONING_FIELDS.some((field) => field === name)

/** Messages of the model whose parts have nothing that belongs to the message: some clients copy it into them. The same
 *  list where nothing changes. */
export function withPlainParts(messages: Messages): Messages {
  const isMixed = (part: unknown) => Object.keys(asRecord(part)).some(isBeside)
  const isPlain = ({ role, content }: Message) => role !== 'assistant' || !asList(content).some(isMixed)
  if (messages.every(isPlain)) return messages
  const plainPart = (part: unknown) => {
    const { type, ...rest } = asRecord(part)
    if (type !== 'text') return part
    return { type, ...Object.fromEntries(Object.entries(rest).filter(([name]) => !isBeside(name))) }
  }
  return messages.map((message) =>
    isPlain(message) ? message : { ...message, content: asList(message.content).map(plainPart) },
  )
}

/** Messages whose refusals are text, as vendors take them that know no other; the same list where there are none. */
export function withPlainRefusals(messages: Messages): Messages {
  const isRefusal = (part: unknown) => asRecord(part).type === 'refusal'
  const isPlain = ({ role, content, refusal }: Message) =>
    role !== 'assistant' || (asText(refusal) === '' && !asList(content).some(isRefusal))
  if (messages.every(isPlain)) return messages
  return messages.map((message) => {
    if (isPlain(message)) return message
    const { content, refusal, ...rest } = message
    const texts = [
      ...(typeof content === 'string' && content !== '' ? [textPart(content)] : asList(content)),
      ...(asText(refusal) === '' ? [] : [textPart(asText(refusal))]),
    ].map((part) => (isRefusal(part) ? textPart(asText(asRecord(part).refusal)) : part))
    const [first, ...more] = texts
    const { text } = asRecord(first)
    return { ...rest, content: more.length === 0 && typeof text === 'string' ? text : texts } as Message
  })
}

const textPart = (text: string) => ({ type: 'text', text })

function without(record: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}
