import type { ThinkingBlock } from '../../../modes/chat-completion.ts'

const MARK = 'thinking:'

/** Signed reasoning as the opaque text of a reasoning item, which clients send back unchanged. */
export function sealThinking(blocks: readonly ThinkingBlock[]): string {
  const ascii = JSON.stringify(blocks).replace(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return MARK + btoa(ascii)
}

/** The signed reasoning in such a text; undefined for a text that another party has made. */
export function openThinking(sealed: unknown): readonly ThinkingBlock[] | undefined {
  if (typeof sealed !== 'string' || !sealed.startsWith(MARK)) return undefined
  try {
    const blocks: unknown = JSON.parse(atob(sealed.slice(MARK.length)))
    return Array.isArray(blocks) && blocks.every(isBlock) ? blocks : undefined
  } catch {
    return undefined
  }
}

function isBlock(value: unknown): value is ThinkingBlock {
  const block = (value ?? {}) as Record<string, unknown>
  if (block.type === 'redacted_thinking') return typeof block.data === 'string'
  return block.type === 'thinking' && typeof block.thinking === 'string'
}
