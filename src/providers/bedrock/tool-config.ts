import { asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { functionSchema, isHeld } from '../wire/schemas/function-schema.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { cachePoint, hasToolTurns, type Turn } from './converse-messages.ts'
import { CONVERSE } from './converse-name.ts'

/** The tools and the tool choice of a request. */
export function toolConfig(
  { tools, tool_choice: choice }: ChatRequest,
  messages: readonly Turn[],
  drop: Drop,
): JsonRecord {
  if (!tools || tools.length === 0) return calledTools(messages)
  // 'none' is expressed by leaving the tools out, but Converse refuses a conversation with tool calls without them.
  if (choice === 'none' && !hasToolTurns(messages)) return {}
  const specifications = tools.flatMap((tool, index) => {
    if (tool.type !== 'function') throw unsupported(`tools.${index}.type`, CONVERSE, 'Send tools of type function.')
    const described = asRecord(tool.function)
    const { name, description, parameters } = described
    const strict = isHeld(described, drop)
    const toolSpec = {
      name,
      // Empty ones are refused.
      ...(description ? { description } : {}),
      inputSchema: { json: functionSchema(parameters, strict) },
      ...(strict ? { strict } : {}),
    }
    return [{ toolSpec }, ...cachePoint(tool)]
  })
  return { toolConfig: { tools: specifications, ...toolChoice(choice) } }
}

/** The instruction in the place of `none`, where the tools cannot be left out. */
export const WITHOUT_CALLS = 'Answer in words now, and use no tool.'

export function forbidsCalls({ tools, tool_choice }: ChatRequest, messages: readonly Turn[]): boolean {
  return tool_choice === 'none' && (tools?.length ?? 0) > 0 && hasToolTurns(messages)
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
  if (choice == null || choice === 'auto' || choice === 'none') return {}
  if (choice === 'required') return { toolChoice: { any: {} } }
  const name = isRecord(choice) && choice.type === 'function' ? asRecord(choice.function).name : undefined
  if (typeof name !== 'string') throw unsupported('tool_choice', CONVERSE, 'Name a function.')
  return { toolChoice: { tool: { name } } }
}
