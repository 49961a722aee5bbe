import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'

/** The thinking of an assistant's message that a vendor of bare signatures may be given back. A signature that names its
 *  vendor (`gemini:…`) is that vendor's alone: any other refuses it, as it refuses a thought that nobody signed. */
export function ownThinking(message: JsonRecord): JsonRecord[] {
  return asList(message.thinking_blocks)
    .map(asRecord)
    .filter(({ type, signature }) => (type !== 'thinking' || signature) && !/^[a-z]+:/.test(asText(signature)))
}
