import { frameSplitter, readFrame } from '../../lib/bytes/sse.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { ChatChunk, ChatCompletion, WireUsage } from '../../modes/chat-completion.ts'
import type { Usage } from '../../modes/usage.ts'
import type { Reply, StreamStep } from '../../providers/provider.ts'
import { wireUsage } from '../../providers/wire/wire-usage.ts'

const decoder = new TextDecoder()

/** Parses a reply that is still bytes of chat into a completion. */
export function asCompletion(reply: Reply): Reply {
  if (reply.completion) return reply
  try {
    const read = JSON.parse(decoder.decode(reply.bytes)) as ChatCompletion
    const completion = reply.usage ? { ...read, usage: publicUsage(reply.usage, read.usage) } : read
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
  const { usage } = rest
  if (usage && !usage.estimated) first.chunk = { ...first.chunk, usage: publicUsage(usage, first.chunk.usage) }
  return [{ ...rest, ...first }, ...others]
}

/** The usage of an answer under the public names: some vendors have their own, or tell it elsewhere. */
function publicUsage(usage: Usage, told: WireUsage | null | undefined): WireUsage {
  const { prompt_tokens_details: input, completion_tokens_details: output, ...totals } = wireUsage(usage)
  return {
    ...told,
    ...totals,
    ...(told?.prompt_tokens_details || input
      ? { prompt_tokens_details: { ...told?.prompt_tokens_details, ...input } }
      : {}),
    ...(told?.completion_tokens_details || output
      ? { completion_tokens_details: { ...told?.completion_tokens_details, ...output } }
      : {}),
  }
}
