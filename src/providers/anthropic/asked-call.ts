import { asRecord, isRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { instructed } from '../wire/fitting/format-instruction.ts'
import { claudeVersion } from './claude-version.ts'

/** Whether a request makes its model call a tool. */
export function forcesTools({ tools, tool_choice: choice }: ChatRequest): boolean {
  if (!tools?.length) return false
  if (!isRecord(choice)) return choice === 'required'
  return choice.type !== 'allowed_tools' || asRecord(choice.allowed_tools).mode === 'required'
}

/** A request that asks for a call in words, where its model refuses to be made to call a tool: those since 5.1 do, all but
 *  Haiku. */
export function withAskedCall(body: ChatRequest, model: string, drop: Drop): ChatRequest {
  if (!forcesTools(body) || !(claudeVersion(model) > 500) || /haiku/.test(model)) return body
  drop('tool_choice')
  const { function: named, allowed_tools: allowed } = asRecord(body.tool_choice)
  const { name } = asRecord(named)
  const asked = typeof name === 'string' ? `Answer with a call of ${name}.` : 'Answer with a call of a tool.'
  return {
    ...body,
    messages: instructed(body.messages, asked),
    tool_choice: allowed ? { type: 'allowed_tools', allowed_tools: { ...asRecord(allowed), mode: 'auto' } } : 'auto',
  }
}
