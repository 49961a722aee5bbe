import { asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { unspoken } from '../wire/unspoken-fields.ts'
import { cachePoint, hasToolTurns, type Turn } from './converse-messages.ts'
import { CONVERSE } from './converse-name.ts'

/** The tools of a request, and which of them the model has to call. */
export function toolConfig({ tools, tool_choice: choice }: ChatRequest, messages: readonly Turn[]): JsonRecord {
  if (!tools || tools.length === 0) return calledTools(messages)
  if (choice === 'none') {
    // Without tools none can be called; but a conversation that has called some is refused without them.
    if (!hasToolTurns(messages)) return {}
    throw unspoken('tool_choice', CONVERSE, "Behind tool calls 'none' cannot be asked for; say it in the messages.")
  }
  const specifications = tools.flatMap((tool, index) => {
    if (tool.type !== 'function') throw unspoken(`tools.${index}.type`, CONVERSE, 'Send tools of type function.')
    const { name, description, parameters, strict } = asRecord(tool.function)
    const toolSpec = {
      name,
      ...(description == null ? {} : { description }),
      inputSchema: { json: parameters ?? { type: 'object', properties: {} } },
      ...(strict === true ? { strict } : {}),
    }
    return [{ toolSpec }, ...cachePoint(tool)]
  })
  return { toolConfig: { tools: specifications, ...toolChoice(choice) } }
}

/** A conversation that has called tools is refused without any: those that it called, as far as it tells of them. */
function calledTools(messages: readonly Turn[]): JsonRecord {
  const names = new Set<unknown>()
  for (const { content } of messages) {
    for (const { toolUse } of content) if (isRecord(toolUse)) names.add(toolUse.name)
  }
  if (names.size === 0) return {}
  const inputSchema = { json: { type: 'object', properties: {} } }
  return { toolConfig: { tools: Array.from(names, (name) => ({ toolSpec: { name, inputSchema } })) } }
}

function toolChoice(choice: unknown): JsonRecord {
  if (choice == null || choice === 'auto') return {}
  if (choice === 'required') return { toolChoice: { any: {} } }
  const name = isRecord(choice) && choice.type === 'function' ? asRecord(choice.function).name : undefined
  if (typeof name !== 'string') throw unspoken('tool_choice', CONVERSE, 'Name a function.')
  return { toolChoice: { tool: { name } } }
}
