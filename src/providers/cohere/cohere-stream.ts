import { type Frame, readFrame } from '../../lib/bytes/sse.ts'
import { GatewayError } from '../../lib/errors.ts'
import { asRecord, asText, entryOf, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ChatDelta, FinishReason } from '../../modes/chat-completion.ts'
import { openaiEmbeddedFailure } from '../openai/failure.ts'
import type { StreamReader, StreamStep } from '../provider.ts'
import { sseReader } from '../wire/sse-reader.ts'
import { wireUsage } from '../wire/wire-usage.ts'
import { cohereFinish } from './cohere-finish.ts'
import { cohereUsage } from './cohere-usage.ts'

/** Reads a Cohere stream as chat chunks. */
export function cohereStream(model: string): StreamReader {
  let id = ''
  /** The indexes of tool calls by Cohere's index. */
  const calls = new Map<unknown, number>()
  /** The tool calls that have no arguments so far. */
  const bare = new Set<unknown>()
  const chunk = (delta: ChatDelta, finish_reason: FinishReason | null = null): StreamStep => ({
    chunk: { ...identity(), choices: [{ index: 0, delta, finish_reason }] },
  })
  const identity = () => ({ id, object: 'chat.completion.chunk' as const, created: 0, model })

  /** By event type. Citations are dropped, as in a whole answer. */
  const readers: Readonly<Record<string, (event: JsonRecord, message: JsonRecord) => StreamStep[]>> = {
    'message-start'(event) {
      id = asText(event.id)
      return [chunk({ role: 'assistant', content: '' })]
    },
    'content-start': (_, message) => content(message),
    'content-delta': (_, message) => content(message),
    'tool-plan-delta'(_, { tool_plan }) {
      const plan = asText(tool_plan)
      return [{ ...chunk({ reasoning_content: plan }), characters: plan.length }]
    },
    'tool-call-start'(event, { tool_calls }) {
      const call = asRecord(tool_calls)
      const { name, arguments: written } = asRecord(call.function)
      const index = calls.size
      calls.set(event.index, index)
      const called = { name: asText(name), arguments: asText(written) }
      const begun = { index, id: asText(call.id), type: 'function' as const, function: called }
      if (called.arguments === '') bare.add(event.index)
      const characters = called.name.length + called.arguments.length
      return [{ ...chunk({ tool_calls: [begun] }), characters, commits: true }]
    },
    'tool-call-delta'(event, { tool_calls }) {
      const index = calls.get(event.index)
      if (index === undefined) return [{ malformed: true }]
      const fragment = asText(asRecord(asRecord(tool_calls).function).arguments)
      if (fragment !== '') bare.delete(event.index)
      return [{ ...chunk({ tool_calls: [{ index, function: { arguments: fragment } }] }), characters: fragment.length }]
    },
    'tool-call-end'(event) {
      const index = calls.get(event.index)
      // A call without arguments comes without fragments; in chat its arguments are still JSON.
      if (index === undefined || !bare.delete(event.index)) return []
      return [{ ...chunk({ tool_calls: [{ index, function: { arguments: '{}' } }] }), characters: 2 }]
    },
    'message-end'(event) {
      const { finish_reason, usage: reported, error } = asRecord(event.delta)
      const finish = cohereFinish(error ? 'ERROR' : finish_reason)
      if (finish instanceof GatewayError) return [{ failure: finish }]
      const finished: StreamStep = { ...chunk({}, finish), commits: true, finished: true }
      const usage = cohereUsage(reported)
      if (!usage) return [finished, { done: true }]
      return [finished, { chunk: { ...identity(), choices: [], usage: wireUsage(usage) }, usage, done: true }]
    },
  }

  function content(message: JsonRecord): StreamStep[] {
    const { text, thinking } = asRecord(message.content)
    if (typeof text === 'string' && text !== '') return [{ ...chunk({ content: text }), characters: text.length }]
    if (typeof thinking !== 'string' || thinking === '') return []
    return [{ ...chunk({ reasoning_content: thinking }), characters: thinking.length }]
  }

  return sseReader((frame: Frame) => {
    const { data } = readFrame(frame)
    if (data === undefined || data === '[DONE]') return []
    const event = parseRecord(data)
    if (!event) return [{ malformed: true }]
    const read = entryOf(readers, event.type)
    if (read) return read(event, asRecord(asRecord(event.delta).message))
    const failed = asText(event.type) === '' && (event.message !== undefined || event.error !== undefined)
    return failed ? [{ failure: openaiEmbeddedFailure(event.error ?? event) }] : []
  })
}
