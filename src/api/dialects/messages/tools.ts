import { entryOf, type JsonRecord } from '../../../lib/json/lenient.ts'
import { applyTable, type Drop } from '../../../modes/field-table.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { inexpressible } from '../inexpressible.ts'
import { TOOL_FIELDS, VENDOR_TOOLS } from './fields.ts'

/** Tools and the tool choice as chat. */
export function chatTools({ tools, tool_choice }: MessagesRequest, drop: Drop): JsonRecord {
  const functions: JsonRecord[] = []
  const choice = tool_choice ? chatToolChoice(tool_choice) : {}
  let refusal: Error | undefined
  for (const [index, tool] of (tools ?? []).entries()) {
    if (isFunction(tool)) {
      functions.push(chatTool(tool, `tools.${index}`, drop))
      continue
    }
    const at = `tools.${index}`
    const message = `'${at}': only a provider of this dialect has a tool of type '${tool.type}'.`
    const family = VENDOR_TOOLS.find((name) => String(tool.type).startsWith(name))
    if (family === undefined) throw inexpressible(`${at}.type`, message)
    if (isChosen(tool, tool_choice)) throw inexpressible('tool_choice.name', message)
    refusal ??= inexpressible(`${at}.type`, message)
    drop(`tools.${family}`)
  }
  // The answer would mean something else without the only tools.
  if (refusal && functions.length === 0) throw refusal
  if (functions.length === 0) {
    if (tool_choice && tool_choice.type !== 'auto' && tool_choice.type !== 'none') drop('tool_choice')
    return {}
  }
  return { tools: functions, ...choice }
}

const isFunction = ({ type }: JsonRecord) => type === undefined || type === null || type === 'custom'

const isChosen = ({ name }: JsonRecord, choice: MessagesRequest['tool_choice']) =>
  choice?.type === 'tool' && choice.name === name

function chatTool(tool: JsonRecord, at: string, drop: Drop): JsonRecord {
  applyTable(tool, TOOL_FIELDS, {
    drop: (field) => drop(`tools.${field}`),
    refuse(field) {
      throw inexpressible(`${at}.${field}`, `'${at}.${field}': only a provider of this dialect knows it.`)
    },
  })
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
