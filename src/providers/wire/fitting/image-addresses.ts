import { asList, asRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'

type Messages = ChatRequest['messages']

/** What follows the name of an image that is its address alone, as clients of Mistral write it. */
export const ADDRESS_ALONE = /^\s*:\s*"/

/** Messages whose images have their addresses in objects, as OpenAI wants them; the same list where all have. */
export function withImageObjects(messages: Messages): Messages {
  if (!messages.some(({ content }) => asList(content).some(isAddress))) return messages
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: message.content.map(asObject) } : message,
  )
}

const isAddress = (part: unknown) => typeof asRecord(part).image_url === 'string'
const asObject = (part: JsonRecord) => (isAddress(part) ? { ...part, image_url: { url: part.image_url } } : part)
