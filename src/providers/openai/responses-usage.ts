import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import { toolName } from '../../modes/price/surcharges-asked.ts'
import type { Usage } from '../../modes/usage.ts'
import { count, openaiUsage } from './usage.ts'

const CALL = /_call$/
/** Calls that the client runs. */
const CLIENTS: ReadonlySet<string> = new Set([
  'function',
  'custom_tool',
  'computer',
  'local_shell',
  'apply_patch',
  'mcp',
])

/** The usage of a response, with the tools that its provider ran, which are among its items. Of searches OpenAI also tells
 *  how many it bills. */
export function responsesUsage(response: JsonRecord): Usage | undefined {
  const usage = openaiUsage(response.usage, response)
  if (!usage) return undefined
  const toolUses: Record<string, number> = {}
  const containers = new Set<unknown>()
  for (const item of asList(response.output).map(asRecord)) {
    const type = asText(item.type)
    const name = toolName(type.replace(CALL, ''))
    if (!CALL.test(type) || CLIENTS.has(name)) continue
    // Opening a search result costs nothing.
    const { type: action = 'search' } = asRecord(item.action)
    if (name === 'web_search' && action !== 'search') continue
    // A container is billed once for all its calls.
    if (name === 'code_interpreter') {
      const { container_id: container = item.id } = item
      if (containers.has(container)) continue
      containers.add(container)
    }
    toolUses[name] = (toolUses[name] ?? 0) + 1
  }
  const { num_requests: searches } = asRecord(asRecord(response.tool_usage).web_search)
  if (toolUses.web_search !== undefined && typeof searches === 'number') toolUses.web_search = count(searches)
  return { ...usage, toolUses }
}
