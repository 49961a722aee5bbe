import { entryOf, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { inexpressible } from '../inexpressible.ts'

const SPOKEN = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'])

/** How eagerly the arguments are streamed is for a provider of this dialect to know, and changes nothing in them. */
const HINTS = new Set(['eager_input_streaming'])

/** Tools and how to choose among them, as chat has them. */
export function chatTools({ tools, tool_choice }: MessagesRequest): JsonRecord {
  return {
    ...(tools && tools.length > 0 ? { tools: tools.map(chatTool) } : {}),
    ...(tool_choice ? chatToolChoice(tool_choice) : {}),
  }
}

function chatTool(tool: JsonRecord, index: number): JsonRecord {
  const at = `tools.${index}`
  if (tool.type !== undefined && tool.type !== null && tool.type !== 'custom') {
    throw inexpressible(`${at}.type`, `'${at}': only a provider of this dialect has a tool of type '${tool.type}'.`)
  }
  const strange = Object.keys(tool).find((field) => !SPOKEN.has(field) && !HINTS.has(field) && isSet(tool[field]))
  if (strange) throw inexpressible(`${at}.${strange}`, `'${at}.${strange}': only a provider of this dialect knows it.`)
  const { name, description, input_schema, strict, cache_control } = tool
  return {
    type: 'function',
    function: {
      name,
      ...(description ? { description } : {}),
      parameters: input_schema ?? { type: 'object', properties: {} },
      ...(strict === true ? { strict } : {}),
    },
    ...(cache_control ? { cache_control } : {}),
  }
}

const isSet = (value: unknown) => value !== undefined && value !== null && value !== false

const WORDS: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' }

function chatToolChoice(choice: JsonRecord): JsonRecord {
  const { type, name, disable_parallel_tool_use } = choice
  const word = entryOf(WORDS, type)
  if (word === undefined && type !== 'tool') {
    throw inexpressible('tool_choice.type', `'tool_choice.type': one of auto, any, tool and none.`)
  }
  return {
    tool_choice: word ?? { type: 'function', function: { name } },
    ...(disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  }
}
