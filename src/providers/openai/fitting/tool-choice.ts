import { asRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { forcesTools, withCallAskedFor } from '../../wire/fitting/asked-call.ts'

/** Where the choices of a function that a vendor takes differ from OpenAI's. */
export interface ToolChoiceQuirks {
  /** It can be told which of the functions are allowed. To others only those are offered. */
  readonly allowsTools?: true
  /** Its models that reason unless `thinking` tells them not to, and refuse to be made to call a function while they do. */
  readonly stopsThinking?: RegExp
  /** Its models that always reason, and refuse to be made to call a function. */
  readonly callsUnforced?: RegExp
  /** Its models that can be made to call a function, but not a certain one. */
  readonly callsAny?: RegExp
}

/** The changes to a request that makes its model call a function, where it would refuse that because it reasons unasked, and
 *  to one that asks it not to reason. A request with the vendor's own `thinking` is left to the vendor. */
export function forcedCallFields(
  body: ChatRequest,
  model: string,
  { stopsThinking, callsUnforced, callsAny }: ToolChoiceQuirks,
  drop: Drop,
): JsonRecord | undefined {
  if (body.thinking !== undefined) return undefined
  if (stopsThinking?.test(model)) {
    return forcesTools(body) || body.reasoning_effort === 'none' ? withoutThinking(body, drop) : undefined
  }
  if (callsUnforced?.test(model) && forcesTools(body)) {
    const { messages, tool_choice } = withCallAskedFor(body, drop)
    return { messages, tool_choice }
  }
  return callsAny?.test(model) ? oneOffered(body) : undefined
}

function withoutThinking({ reasoning_effort: effort }: ChatRequest, drop: Drop): JsonRecord {
  if (effort === undefined) return { thinking: DISABLED }
  if (effort !== null && effort !== 'none') drop('reasoning_effort')
  return { thinking: DISABLED, reasoning_effort: undefined }
}

const DISABLED = { type: 'disabled' }

/** A call of one function is a call of any, where only that one is offered. */
function oneOffered({ tools, tool_choice: choice }: ChatRequest): JsonRecord | undefined {
  const { name } = asRecord(asRecord(choice).function)
  const named = typeof name === 'string' ? tools?.filter((tool) => asRecord(tool.function).name === name) : undefined
  return named?.length ? { tools: named, tool_choice: 'required' } : undefined
}
