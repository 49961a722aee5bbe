import { asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'

type Tools = ChatRequest['tools']

/** Where the functions that a vendor takes differ from OpenAI's. */
export interface FunctionQuirks {
  /** It refuses functions without a description of their parameters. */
  readonly needParameters?: true
  /** It refuses those whose description has no properties, too. */
  readonly needProperties?: true
  /** It refuses functions of which some are strict and others are not. */
  readonly sameStrictness?: true
}

/** Tools as a vendor takes them; the same list where they are that already. */
export function takenTools(tools: Tools, quirks: FunctionQuirks, drop: Drop): Tools {
  const described = quirks.needParameters ? withParameters(tools, quirks) : tools
  return quirks.sameStrictness ? sameStrictness(described, drop) : described
}

/** Tools whose functions all describe their parameters, be it as none. */
function withParameters(tools: Tools, { needProperties }: FunctionQuirks): Tools {
  const lacks = ({ parameters }: JsonRecord) =>
    parameters == null || (needProperties === true && !isRecord(asRecord(parameters).properties))
  if (!tools?.some((tool) => isRecord(tool.function) && lacks(tool.function))) return tools
  return tools.map((tool) => {
    if (!isRecord(tool.function) || !lacks(tool.function)) return tool
    const parameters = { type: 'object', properties: {}, ...asRecord(tool.function.parameters) }
    return { ...tool, function: { ...tool.function, parameters } }
  })
}

/** Tools of which none is strict where some are and others are not. */
function sameStrictness(tools: Tools, drop: Drop): Tools {
  const strict = tools?.filter(({ function: named }) => isRecord(named) && named.strict === true).length ?? 0
  if (!tools || strict === 0 || strict === tools.length) return tools
  drop('tools.strict')
  return tools.map((tool) =>
    isRecord(tool.function) && tool.function.strict === true
      ? { ...tool, function: { ...tool.function, strict: false } }
      : tool,
  )
}
