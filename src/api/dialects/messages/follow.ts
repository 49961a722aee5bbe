import { readFrame } from '../../../lib/bytes/sse.ts'
import { asRecord, asText, entryOf, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { ChatChunk, ChatDelta } from '../../../modes/chat-completion.ts'
import type { DialectFollower } from '../../../pipeline/translate/dialect.ts'
import { messagesEvents } from './event-stream.ts'

/** Stands for content that no other model can continue: a tool call, signed reasoning, text with citations. */
const NOT_CONTINUABLE: ChatDelta = { tool_calls: [{ index: 0 }] }

/** Reads a message whose events are relayed unchanged, so that a cut answer can be continued. */
export function followMessages(): DialectFollower {
  let head: Pick<ChatChunk, 'id' | 'model'> = { id: '', model: '' }
  let begun = false
  let index = -1
  let open = false

  const chunkOf = (delta: ChatDelta): ChatChunk[] => [
    { ...head, object: 'chat.completion.chunk', created: 0, choices: [{ index: 0, delta, finish_reason: null }] },
  ]
  const textChunk = (text: string): ChatChunk[] => (text === '' ? [] : chunkOf({ content: text }))
  const readers: Readonly<Record<string, (event: JsonRecord) => ChatChunk[]>> = {
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
      return type === 'text' ? textChunk(asText(text)) : chunkOf(NOT_CONTINUABLE)
    },
    content_block_delta({ delta }) {
      const { type, text } = asRecord(delta)
      return type === 'text_delta' ? textChunk(asText(text)) : chunkOf(NOT_CONTINUABLE)
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
      return (event && entryOf(readers, event.type)?.(event)) ?? []
    },
    continuation: () => messagesEvents({}, { begun, index, open }),
  }
}
