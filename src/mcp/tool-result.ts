import { asList, isRecord, type JsonRecord } from '../lib/json/lenient.ts'
import type { ToolContent, ToolResult } from './tool-servers.ts'

/** The result of a call: content blocks of any type, also of one that is not known here, and structure of any. Some servers
 *  write null for none. */
export function toolResultOf({ content, structuredContent, isError, _meta }: JsonRecord): ToolResult {
  return {
    content: asList(content).filter(isContent),
    ...(structuredContent == null ? {} : { structuredContent }),
    ...(isRecord(_meta) ? { _meta } : {}),
    isError: isError === true,
  }
}

function isContent(block: unknown): block is ToolContent {
  return isRecord(block) && typeof block.type === 'string'
}
