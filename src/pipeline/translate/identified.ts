import { newId } from '../../lib/ids.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'

/** Frameworks of agents take answers with the same id for one answer. */
const ownId = () => newId('chatcmpl', '-')

/** A completion with the id and the time that its vendor did not send. */
export function identified(completion: ChatCompletion): ChatCompletion {
  const { id, created } = completion
  return { ...completion, id: id || ownId(), created: created || unixSeconds() }
}

/** Writes the same id and time into every chunk of a stream whose vendor did not send them, and those of the stream into
 *  chunks without, such as what Azure's filters say before and behind its words. */
export function identifying(): (chunk: ChatChunk) => ChatChunk {
  let id = ''
  let created = 0
  return (chunk) => {
    id = chunk.id || id || ownId()
    created ||= chunk.created || unixSeconds()
    return { ...chunk, id, created }
  }
}

function unixSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
