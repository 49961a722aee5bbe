import { joinBytes } from '../../../lib/bytes/bytes.ts'
import { latin1Text } from '../../../lib/bytes/latin1.ts'
import { type Frame, readFrame } from '../../../lib/bytes/sse.ts'
import { asRecord, asText, entryOf, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { ChatDelta, FinishReason } from '../../../modes/chat-completion.ts'
import type { StreamReader, StreamStep } from '../../provider.ts'
import { sseReader } from '../../wire/sse-reader.ts'
import { wireUsage } from '../../wire/wire-usage.ts'
import { responsesErrorFailure, responsesFailure } from '../responses-failure.ts'
import { responsesUsage } from '../responses-usage.ts'
import { citationsIn } from './annotations.ts'
import { reasoningBlocks } from './own-reasoning.ts'
import { finishOf, identityOf, textIn } from './reply.ts'

/** Reads the events of a response as chunks of chat. */
export function responsesChunks(reader: string): StreamReader {
  let identity = identityOf({})
  let hasContent = false
  let text = ''
  /** The numbers of the calls by the places of their items, and those without arguments so far. */
  const calls = new Map<unknown, number>()
  const bare = new Set<unknown>()
  const chunk = (delta: ChatDelta, finish_reason: FinishReason | null = null): StreamStep => ({
    chunk: { ...identity, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] },
  })
  const said = (delta: ChatDelta, text: string): StreamStep[] => {
    if (text === '') return []
    hasContent ||= delta.reasoning_content === undefined
    return [{ ...chunk(delta), characters: text.length }]
  }
  const written = (at: unknown, text: string): StreamStep[] => {
    const index = calls.get(at)
    if (index === undefined) return [{ malformed: true }]
    if (text === '') return []
    bare.delete(at)
    return said({ tool_calls: [{ index, function: { arguments: text } }] }, text)
  }

  const readers: Readonly<Record<string, (event: JsonRecord) => StreamStep[]>> = {
    'response.created'({ response }) {
      identity = identityOf(asRecord(response))
      return [chunk({ role: 'assistant', content: '' })]
    },
    'response.output_text.delta'({ delta }) {
      text += asText(delta)
      return said({ content: asText(delta) }, asText(delta))
    },
    'response.refusal.delta': ({ delta }) => said({ refusal: asText(delta) }, asText(delta)),
    'response.reasoning_summary_text.delta': ({ delta }) => said({ reasoning_content: asText(delta) }, asText(delta)),
    'response.output_item.added'({ item, output_index: at }) {
      const { type, call_id, name, arguments: begun } = asRecord(item)
      if (type !== 'function_call') return []
      const index = calls.size
      calls.set(at, index)
      bare.add(at)
      hasContent = true
      const called = { name: asText(name), arguments: '' }
      const opened = chunk({ tool_calls: [{ index, id: asText(call_id), type: 'function', function: called }] })
      return [{ ...opened, characters: called.name.length, commits: true }, ...written(at, asText(begun))]
    },
    'response.function_call_arguments.delta': ({ output_index, delta }) => written(output_index, asText(delta)),
    'response.output_item.done'({ output_index: at, item }) {
      const done = asRecord(item)
      // The arguments of a call that has none, or that come at once.
      if (bare.has(at)) return written(at, asText(done.arguments) || '{}')
      const thinking_blocks = done.type === 'reasoning' ? reasoningBlocks(done, reader) : []
      return thinking_blocks.length === 0 ? [] : [chunk({ thinking_blocks })]
    },
    'response.completed': ending,
    'response.incomplete': ending,
    'response.failed': ending,
    'response.cancelled': ending,
    error: (event) => [{ failure: responsesErrorFailure(event.error ?? event) }],
  }

  function ending({ response }: JsonRecord): StreamStep[] {
    const final = asRecord(response)
    const usage = responsesUsage(final)
    const failure = hasContent && final.status === 'incomplete' ? undefined : responsesFailure(final)
    if (failure) return [...(usage ? [{ usage }] : []), { failure }]
    // Perplexity may tell a text at the end alone.
    const whole = textIn(final)
    const untold = whole.startsWith(text) ? whole.slice(text.length) : ''
    const annotations = citationsIn(final.output, text + untold)
    const before = [...said({ content: untold }, untold), ...(annotations.length === 0 ? [] : [chunk({ annotations })])]
    const finished: StreamStep = { ...chunk({}, finishOf(final, calls.size > 0)), commits: true, finished: true }
    if (!usage) return [...before, finished, { done: true }]
    const told = { ...identity, object: 'chat.completion.chunk' as const, choices: [], usage: wireUsage(usage) }
    return [...before, finished, { chunk: told, usage, done: true }]
  }

  return sseReader((frame: Frame) => {
    const { data } = readFrame(frame)
    if (data === undefined || data === '[DONE]') return []
    const event = parseRecord(data)
    if (!event) return [{ malformed: true }]
    return entryOf(readers, event.type)?.(event) ?? []
  })
}

const BEGUN = /data:[^\n]{40}|data:[^\n]*\n/
const RESPONSES = /data:\s*\{[^{[]{0,200}"type"\s*:\s*"response\./

/** Reads a stream as what its first event shows it to be: one of Responses, or one of chat. */
export function eitherStream(chat: () => StreamReader, owner: string): StreamReader {
  let reader: StreamReader | undefined
  let held: Uint8Array = new Uint8Array()
  return {
    push(piece) {
      if (reader) return reader.push(piece)
      held = joinBytes([held, piece])
      const text = latin1Text(held)
      if (!BEGUN.test(text)) return []
      reader = RESPONSES.test(text) || /^event:\s*response\./m.test(text) ? responsesChunks(owner) : chat()
      return reader.push(held)
    },
    closing: () => reader?.closing?.() ?? new Uint8Array(),
  }
}
