import type { ThinkingBlock } from '../../../modes/chat-completion.ts'
import type { CallWriter } from '../call-assembly.ts'
import type { JsonEnd } from '../json-end.ts'
import { DIRECT, UNSIGNED } from './wire.ts'

type Emit = (type: string, value: object) => void

/** A content block and its deltas. */
interface Block {
  readonly start: Readonly<Record<string, unknown>> & { readonly type: string }
  /** Deltas that are held back until the block is opened. */
  pending: object[]
  /** Whether a delta had text. */
  hasText: boolean
  /** The end of a call's arguments. */
  readonly input: JsonEnd | undefined
  ended: boolean
  /** Whether the block is a thought that has no signature yet. */
  unsigned: boolean
}

/** Writes interleaved deltas as blocks one after the other, as clients of this dialect expect them: deltas of a later
 *  block are held back until the open block is complete. */
export function blockSequence(emit: Emit, before: { readonly index: number; readonly open: boolean }) {
  const queue: Block[] = []
  let { index } = before
  let opened: Block | undefined = before.open ? fresh({ type: 'text', text: '' }) : undefined

  function advance(): void {
    for (;;) {
      if (opened?.ended) stop()
      if (queue.length === 0 || (opened && !isComplete(opened))) return
      stop()
      opened = queue.shift() as Block
      index += 1
      emit('content_block_start', { index, content_block: opened.start })
      for (const delta of opened.pending) emit('content_block_delta', { index, delta })
      opened.pending = []
    }
  }
  function stop(): void {
    if (opened?.unsigned) {
      emit('content_block_delta', { index, delta: { type: 'signature_delta', signature: UNSIGNED } })
    }
    if (opened) emit('content_block_stop', { index })
    opened = undefined
  }
  /** Text is complete where other content begins, the arguments of a call where their JSON ends. */
  function isComplete(block: Block): boolean {
    return block.ended || !block.input || block.input.closed
  }
  function add(block: Block): Block {
    queue.push(block)
    advance()
    return block
  }
  function extend(block: Block, delta: object, text: string): void {
    block.hasText ||= text !== ''
    if (block === opened) emit('content_block_delta', { index, delta })
    else block.pending.push(delta)
    advance()
  }
  const newest = () => queue.at(-1) ?? opened
  function current(type: 'text' | 'thinking'): Block {
    const last = newest()
    if (last?.start.type === type && !last.ended) return last
    return add(fresh(type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' }))
  }

  return {
    text(type: 'text' | 'thinking', text: string): void {
      extend(
        current(type),
        type === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text },
        text,
      )
    },
    /** Ends the open thinking block with its signature. Writes the thinking first if no delta brought it. */
    sign(thinking: string, signature: string): void {
      const block = current('thinking')
      if (!block.hasText && thinking !== '') extend(block, { type: 'thinking_delta', thinking }, thinking)
      if (signature !== '') {
        block.unsigned = false
        extend(block, { type: 'signature_delta', signature }, '')
      }
      block.ended = true
      advance()
    },
    /** Adds a block that has no deltas. */
    complete(block: ThinkingBlock): void {
      add({ ...fresh({ ...block }), ended: true })
    },
    call(id: string, name: string, end: JsonEnd): CallWriter {
      const block = add(fresh({ type: 'tool_use', id, name, input: {}, caller: DIRECT }, end))
      return {
        add(text) {
          if (!isStopped(block)) extend(block, { type: 'input_json_delta', partial_json: text }, text)
        },
      }
    },
    end(): void {
      for (const block of [...(opened ? [opened] : []), ...queue]) block.ended = true
      advance()
      stop()
    },
  }

  /** A block stops when its JSON is complete: only white space can follow. */
  function isStopped(block: Block): boolean {
    return block !== opened && !queue.includes(block)
  }
}

function fresh(start: Block['start'], input?: JsonEnd): Block {
  return {
    start,
    pending: [],
    hasText: false,
    input,
    ended: false,
    unsigned: start.type === 'thinking',
  }
}
