import { asRecord, asText } from '../../../lib/json/lenient.ts'
import type { Drop } from '../../../modes/field-table.ts'
import type { ResponsesRequest } from '../../../modes/responses.ts'
import { inexpressible } from '../inexpressible.ts'
import type { Part } from './content.ts'
import { VENDOR_TOOLS } from './fields.ts'
import { functionsOf, offeredName, toolsOf } from './functions.ts'

type ChatTool = Part & { readonly type: string }

/** Tools and the tool choice as chat. Tools that a provider runs are left out beside others, and refused alone. */
export function chatTools(
  request: ResponsesRequest,
  drop: Drop,
): { readonly tools?: ChatTool[]; readonly tool_choice?: unknown } {
  const functions: ChatTool[] = []
  const names = new Set<unknown>()
  let refusal: Error | undefined
  const { tool_choice } = request
  for (const [index, tool] of toolsOf(request).entries()) {
    const offered = functionsOf(tool)
    if (offered) {
      for (const [, written] of offered) {
        const { name } = asRecord(written.function)
        if (!names.has(name)) functions.push({ ...written, type: 'function' })
        names.add(name)
      }
      continue
    }
    const unknown = inexpressible(
      `tools.${index}.type`,
      `Tools of type '${tool.type}' run at providers that speak Responses themselves, and no deployment of this model does.`,
    )
    const family = VENDOR_TOOLS.find((name) => tool.type.startsWith(name))
    if (family === undefined) throw unknown
    refusal ??= unknown
    drop(`tools.${family}`)
  }
  // The answer would mean something else without the only tools.
  if (refusal && functions.length === 0) throw refusal
  if (functions.length > 0) return { tools: functions, ...chatToolChoice(tool_choice) }
  if (tool_choice && tool_choice !== 'auto' && tool_choice !== 'none') drop('tool_choice')
  return {}
}

function chatToolChoice(choice: ResponsesRequest['tool_choice']): { readonly tool_choice?: unknown } {
  if (choice === undefined || choice === null) return {}
  if (typeof choice === 'string') return { tool_choice: choice }
  if (isOffered(choice.type)) return { tool_choice: named(choice) }
  if (choice.type === 'allowed_tools' && Array.isArray(choice.tools)) {
    const tools = choice.tools.map((tool, index) => {
      if (isOffered(tool?.type)) return named(asRecord(tool))
      throw inexpressible(`tool_choice.tools.${index}.type`, 'Only functions can be allowed here.')
    })
    return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: choice.mode ?? 'auto', tools } } }
  }
  throw inexpressible('tool_choice.type', `A tool choice of type '${choice.type}' is not supported for this model.`)
}

const isOffered = (type: unknown) => type === 'function' || type === 'custom' || type === 'local_shell'

function named({ type, name, namespace }: Part): object {
  return { type: 'function', function: { name: type === 'local_shell' ? type : offeredName(asText(name), namespace) } }
}
