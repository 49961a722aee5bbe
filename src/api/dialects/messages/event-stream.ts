import { joinBytes } from '../../../lib/bytes/bytes.ts'
import type { ChatChunk, ThinkingBlock, WireUsage } from '../../../modes/chat-completion.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import type { DialectStream } from '../../../pipeline/translate/dialect.ts'
import { callAssembly } from '../call-assembly.ts'
import { contentFields } from '../content-fields.ts'
import { blockSequence } from './block-sequence.ts'
import { ending, messagesUsage } from './wire.ts'

const encoder = new TextEncoder()

/** How far a client has received a message: whether it has begun, the index of the newest block, and whether that is
 *  open. */
export interface MessageSoFar {
  readonly begun: boolean
  readonly index: number
  readonly open: boolean
}

/** What the events of a message take from its request. */
interface OfRequest {
  readonly stopSequences?: MessagesRequest['stop_sequences']
  /** The probable tokens of the input. */
  readonly likelyInput?: (() => number) | undefined
}

/** Writes chat chunks as the events of a message, from its start or as a continuation of a cut text. Holds back the end
 *  until the usage is known, which chat sends last. */
export function messagesEvents(
  { stopSequences, likelyInput }: OfRequest = {},
  before: MessageSoFar = { begun: false, index: -1, open: false },
): DialectStream {
  let { begun } = before
  let called = false
  let refused = false
  let finish: ChatChunk['choices'][number] | undefined
  let usage: WireUsage | undefined
  let out: Uint8Array[] = []

  const emit = (type: string, value: object = {}) => {
    out.push(encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`))
  }
  const drain = () => {
    const bytes = joinBytes(out)
    out = []
    return bytes
  }
  const blocks = blockSequence(emit, before)
  const calls = callAssembly((id, name, end) => {
    called = true
    return blocks.call(id, name, end)
  })

  const likelyUsage = () => ({ ...messagesUsage(undefined), input_tokens: likelyInput?.() ?? 0 })

  function begin({ id, model }: Pick<ChatChunk, 'id' | 'model'>): void {
    if (begun) return
    begun = true
    const message = { id, type: 'message', role: 'assistant', model, content: [] }
    // The usage is known only at the end, in `message_delta`. Clients show by the start how full the context is.
    const ending = { stop_reason: null, stop_sequence: null, usage: likelyUsage() }
    emit('message_start', { message: { ...message, ...ending } })
    emit('ping')
  }

  function writeDelta(delta: unknown): void {
    const { content, refusal, reasoning_content, thinking_blocks, tool_calls } = contentFields(delta)
    if (reasoning_content !== '') blocks.text('thinking', reasoning_content)
    for (const block of thinking_blocks) writeThinking(block)
    if (content !== '') blocks.text('text', content)
    if (refusal !== '') {
      refused = true
      blocks.text('text', refusal)
    }
    for (const call of tool_calls) calls.push(call)
  }

  function writeThinking(block: ThinkingBlock): void {
    if (block.type === 'redacted_thinking') blocks.complete(block)
    else blocks.sign(block.thinking, block.signature ?? '')
  }

  return {
    write(chunk) {
      const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
      // A chunk about the prompt alone may come first, without id and model.
      if (choice) begin(chunk)
      writeDelta(choice?.delta)
      if (choice?.finish_reason) finish = choice
      if (chunk.usage) usage = chunk.usage
      return drain()
    },
    close() {
      begin({ id: '', model: '' })
      calls.finish()
      blocks.end()
      const end = ending(finish ?? {}, called, stopSequences)
      const delta = refused ? { stop_reason: 'refusal', stop_sequence: null } : end
      emit('message_delta', { delta, usage: usage ? messagesUsage(usage) : likelyUsage() })
      emit('message_stop')
      return drain()
    },
  }
}
