import { joinBytes } from '../../lib/bytes/bytes.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { AssistantMessage, ChatChunk, ChatCompletion, ChatDelta } from '../../modes/chat-completion.ts'
import type { Reply, StreamStep } from '../../providers/provider.ts'
import type { DialectStream } from './dialect.ts'

const encoder = new TextEncoder()

/** A whole answer as a single, final step of a stream. */
export function wholeStream(out: Uint8Array, { usage, outputCharacters, made }: Omit<Reply, 'bytes'>): StreamStep {
  return {
    out,
    characters: outputCharacters,
    commits: true,
    finished: true,
    done: true,
    ...(usage ? { usage } : {}),
    ...(made ? { made } : {}),
  }
}

/** Encodes records as server-sent events, named by their `type` if they have one. */
export function asEvents(events: readonly Readonly<Record<string, unknown>>[]): Uint8Array {
  const named = (type: unknown) => (typeof type === 'string' ? `event: ${type}\n` : '')
  return encoder.encode(events.map((event) => `${named(event.type)}data: ${JSON.stringify(event)}\n\n`).join(''))
}

/** A whole completion as the complete stream of a dialect. */
export function writtenAtOnce(completion: ChatCompletion, stream: DialectStream): Uint8Array {
  return joinBytes([...chunksOf(completion).map((chunk) => stream.write(chunk)), stream.close()])
}

/** Splits a completion into the chunks of a stream. */
export function chunksOf({ choices, usage, ...head }: ChatCompletion): ChatChunk[] {
  const chunk = (more: Pick<ChatChunk, 'choices' | 'usage'>): ChatChunk => ({
    ...head,
    object: 'chat.completion.chunk',
    ...more,
  })
  const chunks = choices.flatMap(({ index, message, finish_reason, stop_reason, logprobs }) => [
    ...deltasOf(message).map((delta, at) =>
      chunk({ choices: [{ index, delta, finish_reason: null, ...(at === 0 && logprobs ? { logprobs } : {}) }] }),
    ),
    chunk({ choices: [{ index, delta: {}, finish_reason, ...(stop_reason == null ? {} : { stop_reason }) }] }),
  ])
  return usage ? [...chunks, chunk({ choices: [], usage })] : chunks
}

/** The deltas of a message in streaming order: thoughts, content, tool calls. */
function deltasOf({
  role,
  thinking_blocks = [],
  reasoning_content,
  tool_calls,
  ...spoken
}: AssistantMessage): ChatDelta[] {
  const signed = thinking_blocks.flatMap((block): ChatDelta[] => [
    ...(block.type === 'thinking' ? [{ reasoning_content: block.thinking }] : []),
    { thinking_blocks: [block] },
  ])
  const thoughts = signed.length > 0 || !reasoning_content ? signed : [{ reasoning_content }]
  const calls = Array.isArray(tool_calls) ? tool_calls.map((call, index) => ({ ...call, index })) : []
  return [{ role }, ...thoughts, spoken, ...(calls.length > 0 ? [{ tool_calls: calls }] : [])]
}

/** A stream was asked for, of a model that has none. */
export function unstreamed(): GatewayError {
  const details = { param: 'stream', code: 'stream_not_supported' }
  return new GatewayError('invalid_request', 'This model does not stream: leave out `stream`.', details)
}
