import { readFrame } from '../../../lib/bytes/sse.ts'
import { asRecord, asText, entryOf, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { ChatChunk, ChatDelta } from '../../../modes/chat-completion.ts'
import type { DialectFollower } from '../../../pipeline/translate/dialect.ts'
import { messagesEvents } from './event-stream.ts'

/** Content that another model cannot continue: a tool call, signed reasoning, text with citations. */
const NOBODY_ELSES: ChatDelta = { tool_calls: [{ index: 0 }] }

/** Reads a message whose events are relayed unchanged, so that a cut answer can be continued. */
export function followMessages(): DialectFollower {
  let head: Pick<ChatChunk, 'id' | 'model'> = { id: '', model: '' }
  let begun = false
  let index = -1
  let open = false

  const said = (delta: ChatDelta): ChatChunk[] => [
    { ...head, object: 'chat.completion.chunk', created: 0, choices: [{ index: 0, delta, finish_reason: null }] },
  ]
  const words = (text: string): ChatChunk[] => (text === '' ? [] : said({ content: text }))
  const meanings: Readonly<Record<string, (event: JsonRecord) => ChatChunk[]>> = {
    message_start({ message }) {
      const { id, model } = asRecord(message)
      head = { id: asText(id), model: asText(model) }
      begun = true
      return []
    },
    content_block_start({ index: number, content_block: block }) {
      const { type, text } = asRecord(block)
      index = typeof number === 'number' ? number : index + 1
      open = true
      return type === 'text' ? words(asText(text)) : said(NOBODY_ELSES)
    },
    content_block_delta({ delta }) {
      const { type, text } = asRecord(delta)
      return type === 'text_delta' ? words(asText(text)) : said(NOBODY_ELSES)
    },
    content_block_stop() {
      open = false
      return []
    },
  }

  return {
    read(bytes) {
      const { data } = readFrame({ bytes, text: '' })
      const event = data === undefined ? undefined : parseRecord(data)
      return (event && entryOf(meanings, event.type)?.(event)) ?? []
    },
    continuation: () => messagesEvents({ begun, index, open }),
  }
}
