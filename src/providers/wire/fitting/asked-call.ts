import { asRecord, isRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { instructed } from './format-instruction.ts'

/** Whether a request makes its model call a tool. */
export function forcesTools(body: ChatRequest): boolean {
  const { tool_choice: choice } = body
  const forces = isRecord(choice)
    ? choice.type !== 'allowed_tools' || asRecord(choice.allowed_tools).mode === 'required'
    : choice === 'required'
  // A long list is read only where it matters.
  return forces && Boolean(body.tools?.length)
}

/** The words that ask for a call of a function, or of any. */
export const askedFor = (name: unknown): string =>
  typeof name === 'string' ? `Answer with a call of ${name}.` : 'Answer with a call of a tool.'

/** A request that asks for a call in words, for a model that refuses to be made to call a tool. */
export function withCallAskedFor(body: ChatRequest, drop: Drop): ChatRequest {
  if (!forcesTools(body)) return body
  drop('tool_choice')
  const { function: named, allowed_tools: allowed } = asRecord(body.tool_choice)
  return {
    ...body,
    messages: instructed(body.messages, askedFor(asRecord(named).name)),
    tool_choice: allowed ? { type: 'allowed_tools', allowed_tools: { ...asRecord(allowed), mode: 'auto' } } : 'auto',
  }
}
