import type { UrlCitation } from '../../../modes/chat-completion.ts'
import { type Emit, type ItemStatus, type OutputItem, outputItem } from './output-item.ts'

export interface MessageItem extends OutputItem {
  addText(text: string, logprobs: readonly unknown[]): void
  /** Adds the pages that the text cites. */
  addCitations(citations: readonly UrlCitation[]): void
  addRefusal(text: string): void
}

interface Part {
  readonly type: 'output_text' | 'refusal'
  text: string
  readonly logprobs: unknown[]
  readonly annotations: object[]
}

/** A message of the model: parts of text and of refusal, one open at a time. */
export function messageItem(emit: Emit, output_index: number, id: string): MessageItem {
  const parts: Part[] = []
  const item = outputItem(emit, output_index, (status) => ({
    id,
    type: 'message',
    status,
    role: 'assistant',
    content: parts.map(partDocument),
  }))
  const where = () => ({ item_id: id, output_index, content_index: parts.length - 1 })

  const closePart = () => {
    const part = parts.at(-1)
    if (!part) return
    if (part.type === 'refusal') emit('response.refusal.done', { ...where(), refusal: part.text })
    else emit('response.output_text.done', { ...where(), text: part.text, logprobs: part.logprobs })
    emit('response.content_part.done', { ...where(), part: partDocument(part) })
  }
  const openPart = (type: Part['type']): Part => {
    const last = parts.at(-1)
    if (last?.type === type) return last
    closePart()
    const part: Part = { type, text: '', logprobs: [], annotations: [] }
    parts.push(part)
    emit('response.content_part.added', { ...where(), part: partDocument(part) })
    return part
  }

  return {
    get closed() {
      return item.closed
    },
    addText(text, logprobs) {
      const part = openPart('output_text')
      part.text += text
      part.logprobs.push(...logprobs)
      emit('response.output_text.delta', { ...where(), delta: text, logprobs })
    },
    addCitations(citations) {
      const part = openPart('output_text')
      for (const { type, url_citation } of citations) {
        const annotation = { type, ...url_citation }
        const annotation_index = part.annotations.push(annotation) - 1
        emit('response.output_text.annotation.added', { ...where(), annotation_index, annotation })
      }
    },
    addRefusal(text) {
      openPart('refusal').text += text
      emit('response.refusal.delta', { ...where(), delta: text })
    },
    close(status: ItemStatus) {
      if (item.closed) return
      closePart()
      item.close(status)
    },
    document: item.document,
  }
}

function partDocument({ type, text, logprobs, annotations }: Part): object {
  if (type === 'refusal') return { type, refusal: text }
  return { type, text, annotations: [...annotations], logprobs: [...logprobs] }
}
