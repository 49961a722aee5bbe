import { isRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'

type Tools = ChatRequest['tools']

/** Tools of which none is strict, for a vendor that refuses a request where some are and others not; the same list where
 *  all are, or none. */
export function sameStrictness(tools: Tools, drop: Drop): Tools {
  const strict = tools?.filter(({ function: named }) => isRecord(named) && named.strict === true).length ?? 0
  if (!tools || strict === 0 || strict === tools.length) return tools
  drop('tools.strict')
  return tools.map((tool) =>
    isRecord(tool.function) && tool.function.strict === true
      ? { ...tool, function: { ...tool.function, strict: false } }
      : tool,
  )
}
