import type { ThinkingBlock } from '../../../modes/chat-completion.ts'
import { type Emit, type OutputItem, outputItem } from './output-item.ts'
import { sealThinking } from './thinking.ts'

export interface ReasoningItem extends OutputItem {
  addText(text: string): void
  /** Adds signed blocks, which the provider requires back with the next turn. */
  addSigned(blocks: readonly ThinkingBlock[]): void
}

/** The model's reasoning as the single part of a summary. `sealed`: the client has asked for what it sends back. Clients
 *  that have nothing kept send back no other item, so reasoning that nobody has signed has a seal with nothing in it. */
export function reasoningItem(
  emit: Emit,
  output_index: number,
  { id, sealed }: { readonly id: string; readonly sealed: boolean },
): ReasoningItem {
  const signed: ThinkingBlock[] = []
  let text: string | undefined
  const part = () => ({ type: 'summary_text', text: text ?? '' })
  const item = outputItem(emit, output_index, (status) => ({
    id,
    type: 'reasoning',
    status,
    summary: text === undefined ? [] : [part()],
    ...(sealed || signed.length > 0 ? { encrypted_content: sealThinking(signed) } : {}),
  }))
  const where = { item_id: id, output_index, summary_index: 0 }
  return {
    get closed() {
      return item.closed
    },
    addText(more) {
      if (text === undefined) {
        text = ''
        emit('response.reasoning_summary_part.added', { ...where, part: part() })
      }
      text += more
      emit('response.reasoning_summary_text.delta', { ...where, delta: more })
    },
    addSigned: (blocks) => void signed.push(...blocks),
    close(status) {
      if (item.closed) return
      if (text !== undefined) {
        emit('response.reasoning_summary_text.done', { ...where, text })
        emit('response.reasoning_summary_part.done', { ...where, part: part() })
      }
      item.close(status)
    },
    document: item.document,
  }
}
