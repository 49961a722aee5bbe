import { asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { cachePoint, hasToolTurns, type Turn } from './converse-messages.ts'
import { CONVERSE } from './converse-name.ts'

/** The tools and the tool choice of a request. */
export function toolConfig({ tools, tool_choice: choice }: ChatRequest, messages: readonly Turn[]): JsonRecord {
  if (!tools || tools.length === 0) return calledTools(messages)
  if (choice === 'none') {
    // 'none' is expressed by leaving the tools out, but Converse refuses a conversation with tool calls without them.
    if (!hasToolTurns(messages)) return {}
    throw unsupported('tool_choice', CONVERSE, "After tool calls, ask for 'none' in the messages instead.")
  }
  const specifications = tools.flatMap((tool, index) => {
    if (tool.type !== 'function') throw unsupported(`tools.${index}.type`, CONVERSE, 'Send tools of type function.')
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

/** The tools that a conversation has called, since Converse refuses a conversation with tool calls without tools. */
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
  if (typeof name !== 'string') throw unsupported('tool_choice', CONVERSE, 'Name a function.')
  return { toolChoice: { tool: { name } } }
}
