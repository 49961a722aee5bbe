import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { decodedText } from '../decoded-text.ts'

type Messages = ChatRequest['messages']

const TEXT = /^data:(?:text\/|application\/(?:json|xml|yaml))[^,]*;base64,/i

/** Messages whose documents of text are text, for vendors that read PDFs or no documents at all. */
export function withTextDocuments(messages: Messages): Messages {
  if (!messages.some(({ content }) => asList(content).some(isTextDocument))) return messages
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: message.content.map(asTextPart) } : message,
  )
}

const documentOf = (part: unknown) => asRecord(asRecord(part).file)
const isTextDocument = (part: unknown) => TEXT.test(asText(documentOf(part).file_data).slice(0, 200))

function asTextPart(part: JsonRecord): JsonRecord {
  if (!isTextDocument(part)) return part
  const { file_data, filename } = documentOf(part)
  const written = decodedText(asText(file_data).replace(TEXT, ''))
  if (written === undefined) return part
  const { file: _, ...rest } = part
  return { ...rest, type: 'text', text: [asText(filename), written].filter(Boolean).join('\n') }
}
