import { asList, asText } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { INSTRUCTIONS } from './basic-conversation.ts'

type Messages = ChatRequest['messages']

/** A conversation whose instructions are one system message at its beginning, before a turn that they are followed in.
 *  Agents send several, and some behind the user's turn, or nothing else; vendors that read a conversation by a template
 *  refuse that. */
export function withInstructionsFirst(messages: Messages): Messages {
  const instructions = messages.filter(({ role }) => INSTRUCTIONS.has(role))
  const [first] = instructions
  if (!first) return messages
  if (instructions.length === messages.length) return withLastAsked(messages)
  if (instructions.length === 1 && messages[0] === first && first.role === 'system') return messages
  const contents = instructions.map(({ content }) => content)
  const content = contents.some(Array.isArray) ? contents.flatMap(partsOf) : contents.map(asText).join('\n\n')
  return [{ ...first, role: 'system', content }, ...messages.filter(({ role }) => !INSTRUCTIONS.has(role))]
}

/** Instructions alone, of which the last is what the user wants. */
const withLastAsked = (instructions: Messages): Messages =>
  withInstructionsFirst([...instructions.slice(0, -1), { role: 'user', content: instructions.at(-1)?.content }])

const partsOf = (content: unknown) =>
  Array.isArray(content) ? asList(content) : [{ type: 'text', text: asText(content) }]
