import type { ThinkingBlock } from '../../../modes/chat-completion.ts'
import { openText, sealText } from './opaque-text.ts'

const MARK = 'thinking:'

/** Signed reasoning as the opaque text of a reasoning item, which clients send back unchanged. */
export const sealThinking = (blocks: readonly ThinkingBlock[]): string => MARK + sealText(blocks)

/** The signed reasoning in such a text; undefined for a text that another party has made. */
export function openThinking(sealed: unknown): readonly ThinkingBlock[] | undefined {
  if (typeof sealed !== 'string' || !sealed.startsWith(MARK)) return undefined
  const blocks = openText(sealed.slice(MARK.length))
  return Array.isArray(blocks) && blocks.every(isBlock) ? blocks : undefined
}

function isBlock(value: unknown): value is ThinkingBlock {
  const block = (value ?? {}) as Record<string, unknown>
  if (block.type === 'redacted_thinking') return typeof block.data === 'string'
  return block.type === 'thinking' && typeof block.thinking === 'string'
}
