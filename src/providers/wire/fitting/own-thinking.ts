import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'

/** The thinking blocks of an assistant's message that may be sent back to a vendor whose signatures have no prefix. */
export function ownThinking(message: JsonRecord): JsonRecord[] {
  return asList(message.thinking_blocks).map(asRecord).filter(isOwnThought)
}

/** Whether a vendor whose signatures have no prefix takes a thinking block back. It refuses unsigned thoughts and signatures
 *  with another vendor's prefix (`gemini:…`). */
export function isOwnThought({ type, signature }: JsonRecord): boolean {
  return (type !== 'thinking' || asText(signature) !== '') && !/^[a-z]+:/.test(asText(signature))
}
