import {
  isWrittenEmptyText,
  isWrittenList,
  type WrittenMembers,
  withFirst,
  withLast,
  withTextBefore,
} from '../../lib/json/written-json.ts'
import type { RenderedMessage } from '../../routing/prompts/template.ts'

/** Changes of a request that put the messages of a prompt before its own conversation. Values of the client's are kept as
 *  they are written. */
type Prepend = (messages: readonly RenderedMessage[], own: WrittenMembers) => Record<string, unknown>

/** Between the text of a prompt and a client's own. */
const PARAGRAPH = '\n\n'

export const prependToChat: Prepend = (messages, own) => {
  const conversation = own('messages')
  return { messages: conversation ? withFirst(messages, conversation) : messages }
}

/** System messages go before the client's `system`, all others before its messages. */
export const prependToMessages: Prepend = (messages, own) => {
  const changes: Record<string, unknown> = {}
  // The vendor takes no block without text.
  const [first, ...more] = messages
    .filter(instructs)
    .flatMap(textsOf)
    .filter((text) => text !== '')
  if (first !== undefined) {
    const blocks = [first, ...more].map((text) => ({ type: 'text', text }))
    const system = textOf(own, 'system')
    if (!system) changes.system = more.length === 0 ? first : blocks
    else if (isWrittenList(system)) changes.system = withFirst(blocks, system)
    else changes.system = withLast(blocks, '{"type":"text","text":', system, '}')
  }
  const turns = messages.filter((message) => !instructs(message))
  const conversation = own('messages')
  if (turns.length > 0) changes.messages = conversation ? withFirst(turns, conversation) : turns
  return changes
}

/** A prompt's only system message, in the first place, becomes the `instructions` of a request that has none: like the
 *  client's own they hold for one response and are not part of the conversation. Other messages become items. */
export const prependToResponses: Prepend = (messages, own) => {
  const changes: Record<string, unknown> = {}
  const [first, ...others] = messages
  const isInstruction =
    first !== undefined && instructs(first) && !others.some(instructs) && !textOf(own, 'instructions')
  if (isInstruction) changes.instructions = textsOf(first).join('')
  const items = (isInstruction ? others : messages).map(asItem)
  if (items.length === 0) return changes
  const input = own('input')
  if (!input) changes.input = items
  else if (isWrittenList(input)) changes.input = withFirst(items, input)
  else changes.input = withLast(items, '{"type":"message","role":"user","content":', input, '}')
  return changes
}

/** Completions have no roles: the texts of the messages go before the prompt, as paragraphs. */
export const prependToCompletion: Prepend = (messages, own) => {
  const text = messages.map((message) => textsOf(message).join('')).join(PARAGRAPH)
  const prompt = own('prompt')
  if (!prompt) return { prompt: text }
  // The texts of a list are joined by line breaks.
  if (isWrittenList(prompt)) return { prompt: withFirst([text + PARAGRAPH.slice(1)], prompt) }
  return { prompt: withTextBefore(text + PARAGRAPH, prompt) }
}

/** A member as it is written; undefined for an empty text too. */
function textOf(own: WrittenMembers, member: string): Uint8Array | undefined {
  const written = own(member)
  return written && isWrittenEmptyText(written) ? undefined : written
}

function instructs({ role }: RenderedMessage): boolean {
  return role === 'system' || role === 'developer'
}

function textsOf({ content }: RenderedMessage): string[] {
  return typeof content === 'string' ? [content] : content.map(({ text }) => text)
}

function asItem(message: RenderedMessage): object {
  const { role, content } = message
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return {
    type: 'message',
    role,
    content: typeof content === 'string' ? content : content.map(({ text }) => ({ type, text })),
  }
}
