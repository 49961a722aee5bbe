import { asList, asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** Messages or tools without cache marks, which OpenAI refuses and which do not change an answer. */
export function withoutCacheMarks<Marked extends JsonRecord>(list: readonly Marked[]): Marked[] {
  return list.map((marked) => {
    const { cache_control: _, ...rest } = marked
    const { content, tool_calls } = marked
    if (Array.isArray(content)) Object.assign(rest, { content: plainly(withoutCacheMarks(content.filter(isRecord))) })
    if (Array.isArray(tool_calls)) Object.assign(rest, { tool_calls: withoutCacheMarks(tool_calls.filter(isRecord)) })
    return rest as unknown as Marked
  })
}

/** Whether anything of a request is marked for the cache of its provider. */
export function hasCacheMarks({ messages, tools }: ChatRequest): boolean {
  const isMarked = (marked: JsonRecord): boolean =>
    marked.cache_control !== undefined ||
    asList(marked.content).some((part) => isMarked(asRecord(part))) ||
    asList(marked.tool_calls).some((call) => isMarked(asRecord(call)))
  return messages.some(isMarked) || (tools ?? []).some(isMarked)
}

/** A single text part as a string: the part was only needed for its mark, and some vendors accept no parts. */
function plainly(parts: readonly JsonRecord[]): unknown {
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' ? only.text : parts
}

/** Messages whose tool results are text only, as OpenAI requires; other content of a result moves to a user message after
 *  it. */
export function withTextResults(messages: Messages): Messages {
  if (!messages.some((message) => message.role === 'tool' && mediaOf(message).length > 0)) return messages
  const result: Message[] = []
  let shown: JsonRecord[] = []
  for (const message of messages) {
    const media = message.role === 'tool' ? mediaOf(message) : []
    if (message.role === 'tool') {
      result.push(media.length > 0 ? inText(message) : message)
      if (media.length > 0) shown.push({ type: 'text', text: `The result of ${message.tool_call_id}:` }, ...media)
      continue
    }
    if (shown.length === 0) result.push(message)
    else if (message.role === 'user') result.push({ ...message, content: [...shown, ...partsOf(message.content)] })
    else result.push({ role: 'user', content: shown }, message)
    shown = []
  }
  if (shown.length > 0) result.push({ role: 'user', content: shown })
  return result
}

function mediaOf({ content }: JsonRecord): JsonRecord[] {
  return partsOf(content).filter(({ type }) => type !== 'text')
}

function inText(message: Message): Message {
  const texts = partsOf(message.content).filter(({ type }) => type === 'text')
  return { ...message, content: texts.length > 0 ? texts : 'The user shows it in the message that follows.' }
}

function partsOf(content: unknown): JsonRecord[] {
  if (Array.isArray(content)) return content.map(asRecord)
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
}
