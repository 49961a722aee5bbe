import { joinBytes } from '../../../lib/bytes/bytes.ts'
import type { ChatChunk, FinishReason, ThinkingBlock, WireUsage } from '../../../modes/chat-completion.ts'
import type { DialectStream } from '../../../pipeline/translate/dialect.ts'
import { callAssembly } from '../call-assembly.ts'
import { spokenFields } from '../spoken-fields.ts'
import { blockSequence } from './block-sequence.ts'
import { messagesUsage, stopReason } from './wire.ts'

const encoder = new TextEncoder()

/** What a client has had of a message: whether its start, the number of the newest block, and whether that is open. */
export interface MessageSoFar {
  readonly begun: boolean
  readonly index: number
  readonly open: boolean
}

/** Chat chunks as the events of a message, from its start or from where it broke off in a text. The end is held back until
 *  the usage, which chat tells last, is known. */
export function messagesEvents(before: MessageSoFar = { begun: false, index: -1, open: false }): DialectStream {
  let { begun } = before
  let called = false
  let refused = false
  let finish: FinishReason | undefined
  let usage: WireUsage | undefined
  let out: Uint8Array[] = []

  const emit = (type: string, value: object = {}) => {
    out.push(encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`))
  }
  const taken = () => {
    const bytes = joinBytes(out)
    out = []
    return bytes
  }
  const blocks = blockSequence(emit, before)
  const calls = callAssembly((id, name) => {
    called = true
    return blocks.call(id, name)
  })

  function begin({ id, model }: Pick<ChatChunk, 'id' | 'model'>): void {
    if (begun) return
    begun = true
    const message = { id, type: 'message', role: 'assistant', model, content: [] }
    // What went in is known only at the end, where it is told again.
    const ending = { stop_reason: null, stop_sequence: null, usage: messagesUsage(undefined) }
    emit('message_start', { message: { ...message, ...ending } })
    emit('ping')
  }

  function say(delta: unknown): void {
    const { content, refusal, reasoning_content, thinking_blocks, tool_calls } = spokenFields(delta)
    if (reasoning_content !== '') blocks.words('thinking', reasoning_content)
    for (const thought of thinking_blocks) think(thought)
    if (content !== '') blocks.words('text', content)
    if (refusal !== '') {
      refused = true
      blocks.words('text', refusal)
    }
    for (const call of tool_calls) calls.take(call)
  }

  function think(thought: ThinkingBlock): void {
    if (thought.type === 'redacted_thinking') blocks.whole(thought)
    else blocks.sign(thought.thinking, thought.signature ?? '')
  }

  return {
    write(chunk) {
      const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
      // What a provider says of the prompt alone comes before it knows its own name.
      if (choice) begin(chunk)
      say(choice?.delta)
      if (choice?.finish_reason) finish = choice.finish_reason
      if (chunk.usage) usage = chunk.usage
      return taken()
    },
    close() {
      begin({ id: '', model: '' })
      calls.finish()
      blocks.end()
      const stop_reason = refused ? 'refusal' : stopReason(finish, called)
      emit('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: messagesUsage(usage) })
      emit('message_stop')
      return taken()
    },
  }
}
