import { asList, asRecord, asText, isRecord } from '../../lib/json/lenient.ts'
import type { ThinkingBlock, UrlCitation } from '../../modes/chat-completion.ts'

/** The content of a delta or a message, with defaults for what vendors leave out. */
export interface ContentFields {
  readonly content: string
  readonly refusal: string
  readonly reasoning_content: string
  readonly thinking_blocks: readonly ThinkingBlock[]
  readonly annotations: readonly UrlCitation[]
  readonly tool_calls: readonly unknown[]
}

/** Reads a delta or a message of any vendor leniently. */
export function contentFields(message: unknown): ContentFields {
  const fields = (typeof message === 'object' && message !== null ? message : {}) as Record<string, unknown>
  return {
    content: textOf(fields.content),
    refusal: textOf(fields.refusal),
    // Vendors use two names, and one vendor puts its reasoning into parts of the content.
    reasoning_content: textOf(fields.reasoning_content ?? fields.reasoning ?? thoughtIn(fields.content)),
    thinking_blocks: Array.isArray(fields.thinking_blocks) ? fields.thinking_blocks : [],
    annotations: asList(fields.annotations).filter(isUrlCitation),
    tool_calls: asList(fields.tool_calls),
  }
}

const isUrlCitation = (value: unknown): value is UrlCitation =>
  asRecord(value).type === 'url_citation' && isRecord(asRecord(value).url_citation)

function thoughtIn(content: unknown): string {
  if (!Array.isArray(content)) return ''
  return content.map((part) => textOf(asRecord(part).thinking)).join('')
}

/** The text of content that may be a list of parts. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return asList(value)
    .map((part) => asText(asRecord(part).text))
    .join('')
}
