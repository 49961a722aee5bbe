import { asList, asText } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { INSTRUCTIONS } from './basic-conversation.ts'

type Messages = ChatRequest['messages']

/** A conversation whose instructions are one system message at its beginning. Agents send several, and some behind the
 *  user's turn; vendors that read a conversation by a template refuse that. */
export function withInstructionsFirst(messages: Messages): Messages {
  const instructions = messages.filter(({ role }) => INSTRUCTIONS.has(role))
  const [first] = instructions
  if (!first) return messages
  if (instructions.length === 1 && messages[0] === first && first.role === 'system') return messages
  const contents = instructions.map(({ content }) => content)
  const content = contents.some(Array.isArray) ? contents.flatMap(partsOf) : contents.map(asText).join('\n\n')
  return [{ ...first, role: 'system', content }, ...messages.filter(({ role }) => !INSTRUCTIONS.has(role))]
}

const partsOf = (content: unknown) =>
  Array.isArray(content) ? asList(content) : [{ type: 'text', text: asText(content) }]
