import { asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** The roles of messages that tell the model how to behave. */
export const INSTRUCTIONS: ReadonlySet<string> = new Set(['system', 'developer'])
const NAMED: ReadonlySet<string> = new Set([...INSTRUCTIONS, 'user'])

/** A conversation for a vendor that has no names of participants, chooses the resolution of images itself unless it
 *  `knowsDetail`, and needs a turn of the user: names are told in the text, and the last of nothing but instructions is
 *  the user's. */
export function toldConversation(messages: Messages, drop: Drop, knowsDetail = false): Messages {
  const told = messages.some(({ name }) => isSet(name))
    ? messages.map((message) => withNameTold(message, drop))
    : messages
  if (!knowsDetail && messages.some(asksForDetail)) drop('messages.image_url.detail')
  if (told.length === 0 || told.some(({ role }) => !INSTRUCTIONS.has(role))) return told
  return [...told.slice(0, -1), { ...(told.at(-1) as Message), role: 'user' }]
}

const isSet = (value: unknown) => value !== undefined && value !== null

/** An answer with its name in front would teach the model to write it, and the name of a result is its function's. */
function withNameTold(message: Message, drop: Drop): Message {
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
