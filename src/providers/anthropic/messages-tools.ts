import { asList, asRecord, entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { functionSchema, isHeld } from '../wire/schemas/function-schema.ts'
import { unsupported } from '../wire/unsupported-fields.ts'

const API = 'the Messages API'

/** The tools and the tool choice. Tools in the vendor's own shape pass unchanged. */
export function messagesTools(body: ChatRequest, drop: Drop): JsonRecord {
  const tools = body.tools ?? []
  if (tools.length === 0) return calledTools(body)
  const choice = toolChoice(body)
  return { tools: tools.map((one, index) => tool(one, index, drop)), ...(choice ? { tool_choice: choice } : {}) }
}

/** The tools that a conversation has called, of which the model may call none: the API refuses a conversation with calls
 *  without tools. */
function calledTools({ messages }: ChatRequest): JsonRecord {
  const calls = messages.flatMap(({ tool_calls }) => asList(tool_calls))
  const names = new Set(calls.map((call) => asRecord(asRecord(call).function).name))
  if (names.size === 0) return {}
  const input_schema = { type: 'object', properties: {} }
  return { tools: Array.from(names, (name) => ({ name, input_schema })), tool_choice: { type: 'none' } }
}

function tool(given: JsonRecord, index: number, drop: Drop): JsonRecord {
  if (given.type === 'function') {
    const described = asRecord(given.function)
    const { name, description, parameters } = described
    const strict = isHeld(described, drop)
    const cache = given.cache_control ?? described.cache_control
    return {
      name,
      ...(description ? { description } : {}),
      input_schema: functionSchema(parameters, strict),
      ...(strict ? { strict } : {}),
      ...(cache ? { cache_control: cache } : {}),
    }
  }
  // The vendor's tools have a top-level name; the public `custom` tool has it one level deeper.
  if (typeof given.name === 'string') return given
  throw unsupported(`tools.${index}.type`, API)
}

function toolChoice({ tool_choice: choice, parallel_tool_calls: parallel }: ChatRequest): JsonRecord | undefined {
  const chosen = chosenBy(choice)
  if (parallel !== false || chosen?.type === 'none') return chosen
  return { ...(chosen ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

const WORDS: Readonly<Record<string, string>> = { auto: 'auto', none: 'none', required: 'any' }

function chosenBy(choice: unknown): JsonRecord | undefined {
  if (choice === undefined || choice === null) return undefined
  const word = entryOf(WORDS, choice)
  if (word !== undefined) return { type: word }
  const name = asRecord(asRecord(choice).function).name
  if (isRecord(choice) && choice.type === 'function' && typeof name === 'string') return { type: 'tool', name }
  throw unsupported('tool_choice', API)
}
