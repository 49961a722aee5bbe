import { asList, asRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { unsupported } from '../unsupported-fields.ts'

/** The tools and the choice for a vendor that cannot be told which tools are allowed: only those are offered. */
export function withAllowedTools(body: ChatRequest, api: string): ChatRequest {
  const { type, allowed_tools } = asRecord(body.tool_choice)
  if (type !== 'allowed_tools') return body
  const { mode, tools: allowed } = asRecord(allowed_tools)
  const nameOf = (tool: unknown) => asRecord(asRecord(tool).function).name
  const names = new Set(asList(allowed).map(nameOf))
  const tools = (body.tools ?? []).filter((tool) => names.has(nameOf(tool)))
  if (tools.length === 0) throw unsupported('tool_choice', api, 'Allow some of the functions in tools.')
  return { ...body, tools, tool_choice: mode === 'required' ? 'required' : 'auto' }
}
