import { asList } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { bothContents } from './plain-conversation.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** A conversation in which the user and the model speak by turns, for vendors that refuse any other: neighbouring turns of
 *  one of them are one. The same list where nothing changes. */
export function withAlternatingTurns(messages: Messages): Messages {
  const goesOn = (message: Message, before: Message | undefined) =>
    before?.role === message.role && isPlainTurn(before) && isPlainTurn(message)
  if (!messages.some((message, index) => goesOn(message, messages[index - 1]))) return messages
  const result: Message[] = []
  for (const message of messages) {
    const last = result.at(-1)
    if (last && goesOn(message, last)) {
      result[result.length - 1] = { ...last, content: bothContents(last.content, message.content) }
    } else result.push(message)
  }
  return result
}

const isPlainTurn = ({ role, tool_calls }: Message) =>
  role === 'user' || (role === 'assistant' && asList(tool_calls).length === 0)
