import type { ChatRequest } from '../../modes/chat.ts'

/** Where vendors and clients keep what a model thought before it answered. */
const FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks'] as const

/** The field in which a vendor takes back what its model thought; `none` where it takes nothing back. */
export type ReasoningField = 'reasoning_content' | 'reasoning' | 'none'

/** A conversation with its thoughts where the vendor reads them, for some refuse any other field of a message. Thoughts of
 *  earlier turns are a courtesy to the model: vendors without a field for them ask that they be left out, so nothing that
 *  the client asked for is lost. The same list where nothing has to change. */
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
  return FIELDS.some((name) => name !== field && message[name] !== undefined)
}
