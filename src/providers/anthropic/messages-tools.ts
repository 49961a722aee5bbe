import { asRecord, entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { unspoken } from '../wire/unspoken-fields.ts'

const API = 'the Messages API'

/** Tools and how to choose among them. Tools in the vendor's own words pass as they are. */
export function messagesTools(body: ChatRequest): JsonRecord {
  const tools = body.tools ?? []
  if (tools.length === 0) return {}
  const choice = toolChoice(body)
  return { tools: tools.map(tool), ...(choice ? { tool_choice: choice } : {}) }
}

function tool(given: JsonRecord, index: number): JsonRecord {
  if (given.type === 'function') {
    const { name, description, parameters, strict } = asRecord(given.function)
    const cache = given.cache_control ?? asRecord(given.function).cache_control
    return {
      name,
      ...(description ? { description } : {}),
      input_schema: parameters ?? { type: 'object', properties: {} },
      ...(strict === true ? { strict } : {}),
      ...(cache ? { cache_control: cache } : {}),
    }
  }
  // What has its name at the top is the vendor's; `custom` of the public shape has it inside.
  if (typeof given.name === 'string') return given
  throw unspoken(`tools.${index}.type`, API)
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
  throw unspoken('tool_choice', API)
}
