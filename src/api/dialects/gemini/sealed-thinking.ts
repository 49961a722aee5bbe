import { asText } from '../../../lib/json/lenient.ts'
import type { ThinkingBlock } from '../../../modes/chat-completion.ts'
import { GEMINI_SIGNATURE, SEALED_THINKING } from '../../../providers/gemini/thought-signature.ts'
import { openThinking, sealThinking } from '../responses/thinking.ts'

/** Nine letters, which base64 writes as exactly twelve. */
const MARK = 'thinking:'

/** Reasoning as a thought signature: base64, as its clients require, which they send back unchanged. A signature of the
 *  vendor's own stays what it is. */
export function thoughtSignature(blocks: readonly ThinkingBlock[]): string | undefined {
  const own = blocks.findLast((block) => block.type === 'thinking' && isOwn(block.signature))
  if (own?.type === 'thinking') return own.signature?.slice(GEMINI_SIGNATURE.length)
  return SEALED_THINKING + sealThinking(blocks).slice(MARK.length)
}

const isOwn = (signature: string | undefined) => signature?.startsWith(GEMINI_SIGNATURE) === true

/** The reasoning of a thought signature. Some clients write base64 for addresses. */
export function openSignature(signature: unknown): readonly ThinkingBlock[] {
  const text = asText(signature).replaceAll('-', '+').replaceAll('_', '/')
  if (text === '') return []
  const sealed = text.startsWith(SEALED_THINKING) ? openThinking(MARK + text.slice(SEALED_THINKING.length)) : undefined
  return sealed ?? [{ type: 'thinking', thinking: '', signature: GEMINI_SIGNATURE + text }]
}
