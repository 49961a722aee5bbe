import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { GEMINI } from './api-name.ts'

/** The tools and the tool choice of a request. */
export function toolsOf(body: ChatRequest): { tools?: readonly JsonRecord[]; toolConfig?: JsonRecord } {
  const functions = (body.tools ?? []).map((tool, index) => declarationOf(tool, `tools.${index}`))
  if (functions.length === 0) return {}
  const strict = (body.tools ?? []).some((tool) => asRecord(tool.function).strict === true)
  const calling = callingOf(body.tool_choice ?? 'auto', strict)
  return {
    tools: [{ functionDeclarations: functions }],
    ...(calling ? { toolConfig: { functionCallingConfig: calling } } : {}),
  }
}

function declarationOf(tool: JsonRecord, at: string): JsonRecord {
  if (tool.type !== 'function') throw unsupported(`${at}.type`, GEMINI, 'Send tools of type function.')
  const { name, description, parameters } = asRecord(tool.function)
  return {
    name,
    ...(description === undefined || description === null ? {} : { description }),
    // This field accepts any JSON Schema; the older `parameters` accepts only a subset of OpenAPI.
    ...(parameters === undefined || parameters === null ? {} : { parametersJsonSchema: parameters }),
  }
}

const MODES: Readonly<Record<string, string>> = { auto: 'AUTO', none: 'NONE', required: 'ANY' }

/** VALIDATED is AUTO with arguments that fit their schemas: what `strict` promises. */
function callingOf(choice: unknown, strict: boolean): JsonRecord | undefined {
  if (choice === 'auto') return strict ? { mode: 'VALIDATED' } : undefined
  if (typeof choice === 'string') {
    const mode = entryOf(MODES, choice)
    if (mode) return { mode }
    throw new GatewayError('invalid_request', "'tool_choice' must be auto, none, required or a tool.", {
      param: 'tool_choice',
    })
  }
  const { type, function: named, allowed_tools } = asRecord(choice)
  if (type === 'function') return { mode: 'ANY', allowedFunctionNames: [asText(asRecord(named).name)] }
  if (type === 'allowed_tools') {
    const { mode, tools } = asRecord(allowed_tools)
    const allowedFunctionNames = asList(tools).map((tool) => asText(asRecord(asRecord(tool).function).name))
    // AUTO accepts no list of names.
    return { mode: mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames }
  }
  throw unsupported('tool_choice', GEMINI)
}
