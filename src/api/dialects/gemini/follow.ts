import { readFrame } from '../../../lib/bytes/sse.ts'
import { asList, asRecord, asText, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { ChatChunk, ChatDelta } from '../../../modes/chat-completion.ts'
import type { DialectFollower } from '../../../pipeline/translate/dialect.ts'
import { geminiEvents } from './event-stream.ts'

/** Stands for content that no other model can continue: a call, a file, signed reasoning. */
const NOT_CONTINUABLE: ChatDelta = { tool_calls: [{ index: 0 }] }

/** Reads an answer whose events are relayed unchanged, so that a cut answer can be continued. */
export function followGemini(): DialectFollower {
  let head: Pick<ChatChunk, 'id' | 'model'> = { id: '', model: '' }

  const chunkOf = (index: number, delta: ChatDelta): ChatChunk => ({
    ...head,
    object: 'chat.completion.chunk',
    created: 0,
    choices: [{ index, delta, finish_reason: null }],
  })

  return {
    read(bytes) {
      const { data } = readFrame({ bytes, text: '' })
      const event = data === undefined ? undefined : parseRecord(data)
      if (!event) return []
      const { responseId, modelVersion, candidates } = event
      head = { id: asText(responseId) || head.id, model: asText(modelVersion) || head.model }
      return asList(candidates).flatMap((one, position) => {
        const { index = position, content } = asRecord(one)
        const parts = asList(asRecord(content).parts).map(asRecord)
        return parts.map((part) => chunkOf(Number(index), deltaOf(part)))
      })
    },
    continuation: () => geminiEvents(false),
  }
}

function deltaOf({ text, thought, thoughtSignature, ...others }: JsonRecord): ChatDelta {
  if (asText(thoughtSignature) !== '' || Object.keys(others).length > 0) return NOT_CONTINUABLE
  return thought === true ? { reasoning_content: asText(text) } : { content: asText(text) }
}
