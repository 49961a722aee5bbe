import { asList, asRecord, asText } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'

type Messages = ChatRequest['messages']

/** Messages whose content is a text wherever it is nothing else, also where it lacks, for vendors that take neither parts
 *  nor nothing there; the same list where nothing changes. What the model has said goes together as it came: some clients
 *  have a part for each piece of its stream. */
export function withStringContents(messages: Messages): Messages {
  if (messages.every(isFitting)) return messages
  return messages.map((message) => {
    if (isFitting(message)) return message
    const texts = asList(message.content).map((part) => asText(asRecord(part).text))
    return { ...message, content: texts.join(message.role === 'assistant' ? '' : '\n\n') }
  })
}

const isFitting = ({ content }: Messages[number]) =>
  typeof content === 'string' || asList(content).some((part) => asRecord(part).type !== 'text')
