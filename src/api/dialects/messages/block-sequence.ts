import type { ThinkingBlock } from '../../../modes/chat-completion.ts'
import type { CallWriter } from '../call-assembly.ts'
import { type JsonEnd, jsonEnd } from '../json-end.ts'

type Emit = (type: string, value: object) => void

/** What a block begins with, and what has been said in it. */
interface Block {
  readonly start: Readonly<Record<string, unknown>> & { readonly type: string }
  /** Deltas that wait for the block's turn. */
  waiting: object[]
  /** Whether it has said anything. */
  spoken: boolean
  /** Of a call: where its arguments end. */
  readonly input: JsonEnd | undefined
  ended: boolean
}

/** Blocks one after the other, as clients of this dialect expect them, from deltas that may be interleaved: what belongs
 *  to a later block waits until the one that is open is complete. */
export function blockSequence(emit: Emit, before: { readonly index: number; readonly open: boolean }) {
  const queue: Block[] = []
  let { index } = before
  let opened: Block | undefined = before.open ? fresh({ type: 'text', text: '' }) : undefined

  function turn(): void {
    for (;;) {
      if (opened?.ended) shut()
      if (queue.length === 0 || (opened && !isComplete(opened))) return
      shut()
      opened = queue.shift() as Block
      index += 1
      emit('content_block_start', { index, content_block: opened.start })
      for (const delta of opened.waiting) emit('content_block_delta', { index, delta })
      opened.waiting = []
    }
  }
  function shut(): void {
    if (opened) emit('content_block_stop', { index })
    opened = undefined
  }
  /** Words of a block may end wherever other content begins; the arguments of a call end as JSON does. */
  function isComplete(block: Block): boolean {
    return block.ended || !block.input || block.input.closed
  }
  function add(block: Block): Block {
    queue.push(block)
    turn()
    return block
  }
  function extend(block: Block, delta: object, text: string): void {
    block.spoken ||= text !== ''
    block.input?.push(text)
    if (block === opened) emit('content_block_delta', { index, delta })
    else block.waiting.push(delta)
    turn()
  }
  const newest = () => queue.at(-1) ?? opened
  function current(type: 'text' | 'thinking'): Block {
    const last = newest()
    if (last?.start.type === type && !last.ended) return last
    return add(fresh(type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' }))
  }

  return {
    words(type: 'text' | 'thinking', text: string): void {
      extend(
        current(type),
        type === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text },
        text,
      )
    },
    /** Ends the thought that was told, or tells and ends one that was not. */
    sign(thinking: string, signature: string): void {
      const block = current('thinking')
      if (!block.spoken && thinking !== '') extend(block, { type: 'thinking_delta', thinking }, thinking)
      if (signature !== '') extend(block, { type: 'signature_delta', signature }, '')
      block.ended = true
      turn()
    },
    whole(block: ThinkingBlock): void {
      add({ ...fresh({ ...block }), ended: true })
    },
    call(id: string, name: string): CallWriter {
      const block = add(fresh({ type: 'tool_use', id, name, input: {} }))
      return {
        add(text) {
          if (!isOver(block)) extend(block, { type: 'input_json_delta', partial_json: text }, text)
        },
      }
    },
    end(): void {
      for (const block of [...(opened ? [opened] : []), ...queue]) block.ended = true
      turn()
      shut()
    },
  }

  /** Its place has passed, so it was complete: what still comes can only be space. */
  function isOver(block: Block): boolean {
    return block !== opened && !queue.includes(block)
  }
}

function fresh(start: Block['start']): Block {
  return { start, waiting: [], spoken: false, input: start.type === 'tool_use' ? jsonEnd() : undefined, ended: false }
}
