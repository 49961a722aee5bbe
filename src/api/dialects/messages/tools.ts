import { entryOf, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { inexpressible } from '../inexpressible.ts'

const FIELDS = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'])

/** Fields that change when the arguments arrive, not the arguments: chat can leave them out. */
const HINTS = new Set(['eager_input_streaming'])

/** Tools and the tool choice as chat. */
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
  const other = Object.keys(tool).find((field) => !FIELDS.has(field) && !HINTS.has(field) && isSet(tool[field]))
  if (other) throw inexpressible(`${at}.${other}`, `'${at}.${other}': only a provider of this dialect knows it.`)
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

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' }

function chatToolChoice(choice: JsonRecord): JsonRecord {
  const { type, name, disable_parallel_tool_use } = choice
  const mode = entryOf(CHOICES, type)
  if (mode === undefined && type !== 'tool') {
    throw inexpressible('tool_choice.type', `'tool_choice.type': one of auto, any, tool and none.`)
  }
  return {
    tool_choice: mode ?? { type: 'function', function: { name } },
    ...(disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  }
}
