import type { ChatRequest } from '../../../modes/chat.ts'

/** The message fields in which vendors and clients keep reasoning. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks'] as const

/** The field in which a vendor accepts the reasoning of earlier turns; `none` if it accepts none. */
export type ReasoningField = 'reasoning_content' | 'reasoning' | 'none'

/** Moves the reasoning of earlier turns to the field that the vendor reads, since some vendors refuse other fields. For a
 *  vendor without such a field it is dropped, as those vendors ask. Returns the same list if nothing changes. */
export function withReasoning(messages: ChatRequest['messages'], field: ReasoningField): ChatRequest['messages'] {
  if (!messages.some((message) => needsChange(message, field))) return messages
  return messages.map((message) => {
    if (!needsChange(message, field)) return message
    const { reasoning_content, reasoning, reasoning_details: _details, thinking_blocks: _blocks, ...rest } = message
    const thought = reasoning_content ?? reasoning
    return field === 'none' || typeof thought !== 'string' ? rest : { ...rest, [field]: thought }
  })
}

function needsChange(message: ChatRequest['messages'][number], field: ReasoningField): boolean {
  return REASONING_FIELDS.some((name) => name !== field && message[name] !== undefined)
}
