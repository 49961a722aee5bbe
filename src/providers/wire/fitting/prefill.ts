import type { ChatRequest } from '../../../modes/chat.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** The beginning of the answer, which some conversations end with. */
function prefillOf(messages: Messages): Message | undefined {
  const last = messages.at(-1)
  return last?.role === 'assistant' && !last.tool_calls ? last : undefined
}

/** A conversation whose last words do not end in white space: Claude refuses to go on after that. */
export function withTrimmedPrefill(messages: Messages): Messages {
  const last = prefillOf(messages)
  if (typeof last?.content !== 'string' || !/\s$/.test(last.content)) return messages
  return [...messages.slice(0, -1), { ...last, content: last.content.trimEnd() }]
}

/** A conversation whose last words are marked as the beginning of the answer, for vendors that refuse them otherwise. */
export function withMarkedPrefill(messages: Messages): Messages {
  const last = prefillOf(messages)
  return last && last.prefix === undefined ? [...messages.slice(0, -1), { ...last, prefix: true }] : messages
}
