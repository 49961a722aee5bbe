import { asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** The roles of messages that tell the model how to behave. */
export const INSTRUCTIONS: ReadonlySet<string> = new Set(['system', 'developer'])
const NAMED: ReadonlySet<string> = new Set([...INSTRUCTIONS, 'user'])

/** A conversation for a vendor that has no names of participants, needs a turn of the user, and chooses the resolution
 *  of images itself unless it `knowsDetail`. Names are put into the texts. If there are only instructions, the last one
 *  becomes the user's turn. */
export function basicConversation(messages: Messages, drop: Drop, knowsDetail = false): Messages {
  const unnamed = messages.some(({ name }) => isSet(name))
    ? messages.map((message) => withNameInText(message, drop))
    : messages
  if (!knowsDetail && messages.some(asksForDetail)) drop('messages.image_url.detail')
  if (unnamed.length === 0 || unnamed.some(({ role }) => !INSTRUCTIONS.has(role))) return unnamed
  return [...unnamed.slice(0, -1), { ...(unnamed.at(-1) as Message), role: 'user' }]
}

const isSet = (value: unknown) => value !== undefined && value !== null

/** An answer with its name in front would teach the model to write it, and the name of a result is its function's. */
function withNameInText(message: Message, drop: Drop): Message {
  const { name, content, ...rest } = message
  if (!isSet(name) || message.role === 'tool') return message
  if (!NAMED.has(message.role)) {
    drop('messages.name')
    return { ...rest, content }
  }
  const own = `${asText(name)}: `
  return {
    ...rest,
    content: Array.isArray(content) ? [{ type: 'text', text: own }, ...content] : own + asText(content),
  }
}

function asksForDetail({ content }: JsonRecord): boolean {
  if (!Array.isArray(content)) return false
  return content.some((part) => {
    const { detail } = asRecord(asRecord(part).image_url)
    return isSet(detail) && detail !== 'auto'
  })
}
