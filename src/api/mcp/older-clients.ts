import { asList, asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'

// Since 2026-07-28 the output of a tool may be any JSON. Clients of older versions take objects alone, and refuse a list of
// tools as a whole, or a result, that has another.

export function olderList({ tools, ...list }: JsonRecord): JsonRecord {
  return { ...list, tools: asList(tools).map(asRecord).map(olderTool) }
}

function olderTool({ outputSchema, ...tool }: JsonRecord): JsonRecord {
  return asRecord(outputSchema).type === 'object' ? { ...tool, outputSchema } : tool
}

/** Without content, what the tool said is told as text. */
export function olderResult(result: JsonRecord): JsonRecord {
  const { structuredContent: said, ...older } = result
  if (said === undefined || isRecord(said)) return result
  if (asList(older.content).length > 0) return older
  return { ...older, content: [{ type: 'text', text: JSON.stringify(said) }] }
}
