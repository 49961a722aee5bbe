import { asList, asRecord, asText, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'

/** A message or delta whose content is a list of parts, as OpenAI's clients read it: a text, and the reasoning beside it.
 *  undefined where it is that already. */
export function withTextContent(message: JsonRecord): JsonRecord | undefined {
  const { content } = message
  if (!Array.isArray(content)) return undefined
  const parts = content.map(asRecord)
  const reasoning = parts.map(({ thinking }) => textOf(thinking)).join('')
  return {
    ...message,
    content: parts.map(({ text }) => asText(text)).join(''),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
  }
}

const encoder = new TextEncoder()

/** A whole answer whose messages have a text each. */
export function withTextContents(bytes: Uint8Array): Uint8Array {
  const answer = parseRecord(bytes)
  if (!answer || !Array.isArray(answer.choices)) return bytes
  const choices = answer.choices.map((value: unknown) => {
    const choice = asRecord(value)
    const message = withTextContent(asRecord(choice.message))
    return message ? { ...choice, message } : value
  })
  return encoder.encode(JSON.stringify({ ...answer, choices }))
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return asList(value)
    .map((part) => asText(asRecord(part).text))
    .join('')
}
