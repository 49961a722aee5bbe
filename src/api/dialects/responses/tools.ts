import type { ResponsesRequest } from '../../../modes/responses.ts'
import { inexpressible } from '../inexpressible.ts'
import { known, type Part } from './content.ts'

type Tools = ResponsesRequest['tools']

/** Functions in chat's nested shape. Throws for every other tool: a provider runs it itself. */
export function chatTools(tools: Tools): { readonly tools?: (Part & { readonly type: string })[] } {
  if (!tools || tools.length === 0) return {}
  return {
    tools: tools.map((tool, index) => {
      const { type, name, description, parameters, strict } = tool
      if (type === 'function') return { type, function: known({ name, description, parameters, strict }) }
      throw inexpressible(
        `tools.${index}.type`,
        `Tools of type '${type}' run at providers that speak Responses themselves, and no deployment of this model does.`,
      )
    }),
  }
}

export function chatToolChoice(choice: ResponsesRequest['tool_choice']): { readonly tool_choice?: unknown } {
  if (choice === undefined || choice === null) return {}
  if (typeof choice === 'string') return { tool_choice: choice }
  if (choice.type === 'function') return { tool_choice: { type: 'function', function: { name: choice.name } } }
  if (choice.type === 'allowed_tools' && Array.isArray(choice.tools)) {
    const allowed = choice.tools.map((tool, index) => {
      if (tool?.type === 'function') return { type: 'function', function: { name: tool.name } }
      throw inexpressible(`tool_choice.tools.${index}.type`, 'Only functions can be allowed here.')
    })
    return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: choice.mode ?? 'auto', tools: allowed } } }
  }
  throw inexpressible('tool_choice.type', `A tool choice of type '${choice.type}' is not supported for this model.`)
}
