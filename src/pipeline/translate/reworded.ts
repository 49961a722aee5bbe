import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Adapter, Outgoing, StreamStep } from '../../providers/provider.ts'
import { asChunks, asCompletion } from './chat-bytes.ts'

/** A call in words that its vendor knows, and its answer in the client's. */
export interface Rewording {
  readonly call: Outgoing
  readonly answer: <Answer extends ChatCompletion | ChatChunk>(answer: Answer) => Answer
}

/** An adapter of chat that is asked in other words in those calls that need them. Each of them is reworded once. */
export function reworded(
  adapter: Adapter,
  needsIt: (call: Outgoing) => boolean,
  reword: (call: Outgoing) => Rewording,
): Adapter {
  const known = new WeakMap<ModelRequest, Rewording>()
  const rewordingOf = (call: Outgoing): Rewording | undefined => {
    if (!needsIt(call)) return undefined
    const found = known.get(call.body) ?? reword(call)
    known.set(call.body, found)
    return found
  }
  const asked = (call: Outgoing) => rewordingOf(call)?.call ?? call
  const { stream, again } = adapter
  return {
    ...adapter,
    request: (call, connection) => adapter.request(asked(call), connection),
    ...(again ? { again: (failure, call) => again(failure, asked(call)) } : {}),
    reply(bytes, headers, call) {
      const reply = adapter.reply(bytes, headers, asked(call))
      const rewording = rewordingOf(call)
      if (!rewording) return reply
      const read = asCompletion(reply)
      return read.completion ? { ...read, completion: rewording.answer(read.completion) } : read
    },
    ...(stream
      ? {
          stream(call, headers) {
            const reader = stream(asked(call), headers)
            const rewording = rewordingOf(call)
            if (!rewording) return reader
            const told = (step: StreamStep) => (step.chunk ? { ...step, chunk: rewording.answer(step.chunk) } : step)
            return { ...reader, push: (piece) => reader.push(piece).flatMap(asChunks).map(told) }
          },
        }
      : {}),
  }
}
