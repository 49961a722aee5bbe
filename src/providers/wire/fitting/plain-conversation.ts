import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { isObjectText, toldArguments } from '../call-arguments.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** Messages or tools without cache marks, which OpenAI refuses and which do not change an answer. */
export function withoutCacheMarks<Marked extends JsonRecord>(list: readonly Marked[]): Marked[] {
  return list.map((marked) => {
    const { cache_control: _, ...rest } = marked
    const { content, tool_calls } = marked
    if (Array.isArray(content)) Object.assign(rest, { content: plainly(withoutCacheMarks(content.filter(isRecord))) })
    if (Array.isArray(tool_calls)) Object.assign(rest, { tool_calls: withoutCacheMarks(tool_calls.filter(isRecord)) })
    return rest as Marked
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

/** Messages whose tool results are text only, as OpenAI requires; other content of a result moves to a user message
 *  after it. `more`: another type of content that a vendor takes in results. */
export function withTextResults(messages: Messages, more?: string): Messages {
  const mediaOf = ({ content }: JsonRecord) =>
    partsOf(content).filter(({ type }) => type !== 'text' && (more === undefined || type !== more))
  if (!messages.some((message) => message.role === 'tool' && mediaOf(message).length > 0)) return messages
  const result: Message[] = []
  let shown: JsonRecord[] = []
  for (const message of messages) {
    const media = message.role === 'tool' ? mediaOf(message) : []
    if (message.role === 'tool') {
      result.push(media.length > 0 ? without(message, media) : message)
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

function without(message: Message, media: readonly JsonRecord[]): Message {
  const types = new Set(media.map(({ type }) => type))
  const rest = partsOf(message.content).filter(({ type }) => !types.has(type))
  return { ...message, content: rest.length > 0 ? rest : 'The user shows it in the message that follows.' }
}

/** Messages whose calls have the text of an object as their arguments: templates of open models parse it. */
export function withObjectArguments(messages: Messages): Messages {
  const isFitting = (call: unknown) => {
    const { function: called } = asRecord(call)
    return called === undefined || isObjectText(asRecord(called).arguments)
  }
  if (messages.every(({ tool_calls }) => asList(tool_calls).every(isFitting))) return messages
  const fitted = (call: JsonRecord) => {
    const called = asRecord(call.function)
    return { ...call, function: { ...called, arguments: JSON.stringify(toldArguments(called.arguments)) } }
  }
  return messages.map((message) => {
    const { tool_calls } = message
    if (!Array.isArray(tool_calls)) return message
    return { ...message, tool_calls: tool_calls.map((call) => (isFitting(call) ? call : fitted(asRecord(call)))) }
  })
}

/** Messages with all calls of a turn in one, behind which the results come. Other dialects let the model think or speak
 *  between calls whose results come later, and may write each call down as a message of its own. */
export function withCallsTogether(messages: Messages): Messages {
  const goesOn = ({ role }: Message, before: Message | undefined) => role === 'assistant' && before && hasCalls(before)
  if (!messages.some((message, index) => goesOn(message, messages[index - 1]))) return messages
  const result: Message[] = []
  for (const message of messages) {
    const last = result.at(-1)
    if (last && goesOn(message, last)) result[result.length - 1] = together(last, message)
    else result.push(message)
  }
  return result
}

const hasCalls = ({ role, tool_calls }: Message) => role === 'assistant' && asList(tool_calls).length > 0

function together(one: Message, next: Message): Message {
  const [content = one.content, ...more] = [one, next].flatMap(({ content }) => (isBlank(content) ? [] : [content]))
  const thoughts = [one, next].map(({ reasoning_content }) => asText(reasoning_content)).filter(Boolean)
  const blocks = [one, next].flatMap(({ thinking_blocks }) => asList(thinking_blocks))
  return {
    ...one,
    content: more.length === 0 ? content : bothContents(content, more[0]),
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('\n\n') }),
    ...(blocks.length === 0 ? {} : { thinking_blocks: blocks }),
    tool_calls: [one, next].flatMap(({ tool_calls }) => asList(tool_calls)),
  }
}

const isBlank = (content: unknown) => content === undefined || content === null || content === ''

const bothContents = (one: unknown, next: unknown) =>
  typeof one === 'string' && typeof next === 'string' ? `${one}\n\n${next}` : [...partsOf(one), ...partsOf(next)]

/** Messages without the model's turns that say nothing, such as those that were cut while it thought: some vendors refuse
 *  them. `reads`: the vendor takes what was thought. */
export function withoutSilence(messages: Messages, reads: boolean): Messages {
  const isSilent = ({ role, content, refusal, audio, tool_calls, reasoning_content }: Message) =>
    role === 'assistant' &&
    partsOf(content).every(({ type, text }) => type === 'text' && isBlank(text)) &&
    !(refusal || audio || asList(tool_calls).length > 0) &&
    !(reads && reasoning_content)
  return messages.some(isSilent) ? messages.filter((message) => !isSilent(message)) : messages
}

/** The model's words between a result and the next turn of the user. */
const SEEN = 'I have the result.'

/** Messages in which the model answers the results of its calls before the user speaks again. */
export function withResultsAnswered(messages: Messages): Messages {
  const isUnanswered = ({ role }: Message, index: number) => role === 'user' && messages[index - 1]?.role === 'tool'
  if (!messages.some(isUnanswered)) return messages
  return messages.flatMap((message, index) =>
    isUnanswered(message, index) ? [{ role: 'assistant', content: SEEN }, message] : [message],
  )
}

/** Messages with their documents as addresses, for vendors that fetch them; the same list where there are none. */
export function withDocumentUrls(messages: Messages): Messages {
  const isDocument = ({ type, file }: JsonRecord) => type === 'file' && isRecord(file)
  if (!messages.some(({ content }) => partsOf(content).some(isDocument))) return messages
  return messages.map((message) => {
    if (!partsOf(message.content).some(isDocument)) return message
    const content = partsOf(message.content).map((part) => {
      if (!isDocument(part)) return part
      const { file_data, file_id, filename } = asRecord(part.file)
      const name = typeof filename === 'string' ? { document_name: filename } : {}
      return { type: 'document_url', document_url: file_data ?? file_id, ...name }
    })
    return { ...message, content }
  })
}

/** Where a conversation names a document by its address; undefined if it does not. */
export function documentAddress(messages: Messages): string | undefined {
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    const place = content.findIndex((part) => ADDRESS.test(asText(asRecord(asRecord(part).file).file_id)))
    if (place !== -1) return `messages.${index}.content.${place}.file.file_id`
  }
  return undefined
}

const ADDRESS = /^https?:/i

function partsOf(content: unknown): JsonRecord[] {
  if (Array.isArray(content)) return content.map(asRecord)
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
}
