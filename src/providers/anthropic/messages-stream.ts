import { readFrame } from '../../lib/bytes/sse.ts'
import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, entryOf, isRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ChatChunk, ChatDelta, FinishReason, ThinkingBlock } from '../../modes/chat-completion.ts'
import type { StreamReader } from '../provider.ts'
import { answeredAt } from '../wire/connection/answered-at.ts'
import { sseReader } from '../wire/sse-reader.ts'
import { wireUsage } from '../wire/wire-usage.ts'
import { finishReason } from './finish-reason.ts'
import { messagesProgress, type Progress } from './messages-progress.ts'
import { urlCitations } from './url-citations.ts'

/** Reads a stream of the Messages API as chat chunks. */
export function messagesStream(headers: Readonly<Record<string, string>>): StreamReader {
  const progress = messagesProgress()
  const writer = chunkWriter(answeredAt(headers))
  return sseReader((frame) => {
    const { data } = readFrame(frame)
    if (data === undefined) return {}
    const event = parseRecord(data)
    if (!event) return { malformed: true }
    const meaning = progress(event)
    if (meaning.failure) return meaning
    if (meaning.finished && writer.refused(event)) return { failure: refusal(event) }
    const [first, ...more] = writer.chunksOf(event, meaning)
    return first ? [{ ...meaning, chunk: first }, ...more.map((chunk) => ({ chunk }))] : meaning
  })
}

/** An open block of the answer. Tool calls have a separate index, as in chat. */
type Block =
  | { readonly type: 'tool_use'; readonly call: number; input: JsonRecord; fragments: boolean }
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'text'; readonly begun: number; readonly citations: unknown[] }

function chunkWriter(created: number) {
  let identity = { id: '', object: 'chat.completion.chunk' as const, created, model: '' }
  let calls = 0
  let hasContent = false
  /** The characters of text so far. */
  let length = 0
  const open = new Map<unknown, Block>()

  const chunk = (delta: ChatDelta, finish_reason: FinishReason | null = null): ChatChunk => {
    hasContent ||= finish_reason === null
    return { ...identity, choices: [{ index: 0, delta, finish_reason }] }
  }
  const spoken = (text: string) => {
    length += text.length
    return text === '' ? [] : [chunk({ content: text })]
  }
  const fragment = (call: number, text: string) =>
    chunk({ tool_calls: [{ index: call, function: { arguments: text } }] })
  const signed = (block: ThinkingBlock) => chunk({ thinking_blocks: [block] })

  const starts: Readonly<Record<string, (block: JsonRecord, index: unknown) => ChatChunk[]>> = {
    text({ text, citations }, index) {
      open.set(index, { type: 'text', begun: length, citations: [...asList(citations)] })
      return spoken(asText(text))
    },
    thinking(block, index) {
      const thinking = asText(block.thinking)
      open.set(index, { type: 'thinking', thinking, signature: asText(block.signature) })
      return thinking === '' ? [] : [chunk({ reasoning_content: thinking })]
    },
    redacted_thinking: ({ data }) => [signed({ type: 'redacted_thinking', data: asText(data) })],
    tool_use({ id, name, input }, index) {
      const call = calls++
      open.set(index, { type: 'tool_use', call, input: asRecord(input), fragments: false })
      const tool = { name: asText(name), arguments: '' }
      return [chunk({ tool_calls: [{ index: call, id: asText(id), type: 'function', function: tool }] })]
    },
  }

  const events: Readonly<Record<string, (event: JsonRecord, meaning: Progress) => ChatChunk[]>> = {
    message_start({ message }) {
      const { id, model } = asRecord(message)
      identity = { ...identity, id: asText(id), model: asText(model) }
      const delta: ChatDelta = { role: 'assistant', content: '' }
      return [{ ...identity, choices: [{ index: 0, delta, finish_reason: null }] }]
    },
    content_block_start: ({ content_block, index }) => {
      const block = asRecord(content_block)
      return entryOf(starts, block.type)?.(block, index) ?? []
    },
    content_block_delta({ delta, index }) {
      const { text, thinking, signature, partial_json, citation } = asRecord(delta)
      const block = open.get(index)
      if (typeof text === 'string' && text !== '') return spoken(text)
      if (block?.type === 'text' && citation) block.citations.push(citation)
      if (block?.type === 'tool_use' && typeof partial_json === 'string' && partial_json !== '') {
        block.fragments = true
        return [fragment(block.call, partial_json)]
      }
      if (block?.type !== 'thinking') return []
      block.thinking += asText(thinking)
      block.signature += asText(signature)
      return asText(thinking) === '' ? [] : [chunk({ reasoning_content: asText(thinking) })]
    },
    content_block_stop({ index }) {
      const block = open.get(index)
      open.delete(index)
      // A call without arguments comes without fragments; in chat its arguments are still JSON.
      if (block?.type === 'tool_use') return block.fragments ? [] : [fragment(block.call, JSON.stringify(block.input))]
      if (block?.type === 'text') {
        const annotations = urlCitations(block.citations, block.begun, length)
        return annotations.length === 0 ? [] : [chunk({ annotations })]
      }
      if (block?.type !== 'thinking') return []
      const { thinking, signature } = block
      return [signed({ type: 'thinking', thinking, ...(signature === '' ? {} : { signature }) })]
    },
    message_delta({ delta }, { usage, finished }) {
      if (!finished) return []
      const end = chunk({}, finishReason(asRecord(delta).stop_reason))
      return usage ? [end, { ...identity, choices: [], usage: wireUsage(usage) }] : [end]
    },
  }

  return {
    chunksOf: (event: JsonRecord, meaning: Progress) => entryOf(events, event.type)?.(event, meaning) ?? [],
    /** The answer ends in a refusal and has no content. */
    refused: ({ delta }: JsonRecord) => isRecord(delta) && delta.stop_reason === 'refusal' && !hasContent,
  }
}

/** The failure of an answer without content that ends in a refusal. */
export function refusal({ delta, stop_details }: JsonRecord): GatewayError {
  const { explanation } = asRecord(asRecord(delta).stop_details ?? stop_details)
  return new GatewayError('content_policy', asText(explanation) || 'The model refused to answer this request.')
}
