import { frameSplitter, readFrame } from '../../lib/bytes/sse.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import type { Reply, StreamStep } from '../../providers/provider.ts'

const decoder = new TextDecoder()

/** Parses a reply that is still bytes of chat into a completion. */
export function asCompletion(reply: Reply): Reply {
  if (reply.completion) return reply
  try {
    const completion = JSON.parse(decoder.decode(reply.bytes)) as ChatCompletion
    return { completion, usage: reply.usage, outputCharacters: reply.outputCharacters }
  } catch {
    throw new GatewayError('upstream_malformed', "The provider's answer is not a chat completion.")
  }
}

/** Parses a step that is still bytes of chat into chunks. */
export function asChunks(step: StreamStep): StreamStep[] {
  const { out, ...rest } = step
  if (!out) return [step]
  const splitter = frameSplitter()
  const frames = splitter.push(out)
  const last = splitter.rest()
  const chunks = (last ? [...frames, last] : frames).flatMap((frame) => {
    const { data } = readFrame(frame)
    return data === undefined || data === '[DONE]' ? [] : { chunk: JSON.parse(data) as ChatChunk }
  })
  const [first, ...others] = chunks
  if (!first) return step.done ? [{ ...rest, done: true }] : []
  return [{ ...rest, ...first }, ...others]
}
