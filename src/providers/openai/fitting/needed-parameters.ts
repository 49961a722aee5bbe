import { asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { ChatQuirks } from '../chat-quirks.ts'

type Tools = ChatRequest['tools']

/** Tools whose functions all describe their parameters, be it as none; the same list where nothing changes. */
export function withParameters(tools: Tools, { needsProperties }: ChatQuirks): Tools {
  const lacks = ({ parameters }: JsonRecord) =>
    parameters == null || (needsProperties === true && !isRecord(asRecord(parameters).properties))
  if (!tools?.some((tool) => isRecord(tool.function) && lacks(tool.function))) return tools
  return tools.map((tool) => {
    if (!isRecord(tool.function) || !lacks(tool.function)) return tool
    const parameters = { type: 'object', properties: {}, ...asRecord(tool.function.parameters) }
    return { ...tool, function: { ...tool.function, parameters } }
  })
}
