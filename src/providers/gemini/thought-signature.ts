import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ThinkingBlock } from '../../modes/chat-completion.ts'

/** What Gemini accepts instead of a signature, for example for a call of another vendor's model. */
export const WITHOUT_SIGNATURE = 'skip_thought_signature_validator'

/** The prefix of Gemini's signatures in `thinking_blocks`: each vendor refuses those of others. */
export const GEMINI_SIGNATURE = 'gemini:'

/** How a signature begins that holds the reasoning of another vendor's model: `thinking:` in base64. */
export const SEALED_THINKING = 'dGhpbmtpbmc6'

/** The signature beside a tool call, where Google's own OpenAI-shaped API has it. */
export function signedContent(signature: string): JsonRecord {
  return { google: { thought_signature: signature } }
}

export function signatureOfCall(call: JsonRecord): string | undefined {
  const signature = asRecord(asRecord(call.extra_content).google).thought_signature
  return typeof signature === 'string' ? signature : undefined
}

/** The signature as a thinking block, which survives dialects and clients that drop `extra_content`. */
export function signedBlock(thinking: string, signature: string): ThinkingBlock {
  return { type: 'thinking', thinking, signature: GEMINI_SIGNATURE + signature }
}

/** The newest signature of Gemini's among the blocks of a message. */
export function signatureOfBlocks(message: JsonRecord): string | undefined {
  const signatures = asList(message.thinking_blocks).map((block) => asText(asRecord(block).signature))
  return signatures.findLast((signature) => signature.startsWith(GEMINI_SIGNATURE))?.slice(GEMINI_SIGNATURE.length)
}
