import { joinBytes } from '../../../lib/bytes/bytes.ts'
import type { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { asRecord, asText, isRecord } from '../../../lib/json/lenient.ts'
import type { ChatChunk, FinishReason, WireUsage } from '../../../modes/chat-completion.ts'
import type { DialectStream } from '../../../pipeline/translate/dialect.ts'
import { contentFields } from '../content-fields.ts'
import { type JsonEnd, jsonEnd } from '../json-end.ts'
import { cohereUsage, finishOf } from './from-chat.ts'

const encoder = new TextEncoder()
const event = (type: string, more: object) =>
  encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)

/** Writes chat chunks as the events of Cohere's chat. Parts of the text and calls of tools are numbered apart. */
export function cohereEvents(): DialectStream {
  let begun = false
  let parts = 0
  let open: 'text' | 'thinking' | undefined
  /** The calls that have begun, by their index in chat, and the newest of them if it has not ended. */
  const calls = new Map<unknown, number>()
  let newest: { readonly index: number; readonly end: JsonEnd } | undefined
  const unended = new Set<number>()
  let finish: FinishReason | null = null
  let usage: WireUsage | undefined

  function begin({ id }: ChatChunk): Uint8Array[] {
    if (begun) return []
    begun = true
    const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
    return [event('message-start', { id, delta: { message } })]
  }

  function endPart(): Uint8Array[] {
    if (!open) return []
    open = undefined
    return [event('content-end', { index: parts++ })]
  }

  function say(kind: 'text' | 'thinking', words: string): Uint8Array[] {
    if (words === '') return []
    const events = open === kind ? [] : endPart()
    if (open !== kind) {
      open = kind
      events.push(event('content-start', { index: parts, delta: { message: { content: { type: kind, [kind]: '' } } } }))
    }
    return [...events, event('content-delta', { index: parts, delta: { message: { content: { [kind]: words } } } })]
  }

  function endCall(index: number): Uint8Array[] {
    return unended.delete(index) ? [event('tool-call-end', { index })] : []
  }

  function call(delta: unknown): Uint8Array[] {
    const { index: key, id, function: called } = asRecord(delta)
    const { name, arguments: given } = asRecord(called)
    const events: Uint8Array[] = []
    let index = calls.get(key)
    if (index === undefined) {
      // A call ends before the next one, unless the vendor mixes their pieces.
      if (newest?.end.closed) events.push(...endCall(newest.index))
      index = calls.size
      calls.set(key, index)
      unended.add(index)
      newest = { index, end: jsonEnd() }
      const begins = {
        id: asText(id) || newId('call'),
        type: 'function',
        function: { name: asText(name), arguments: '' },
      }
      events.push(...endPart(), event('tool-call-start', { index, delta: { message: { tool_calls: begins } } }))
    }
    const written = isRecord(given) ? JSON.stringify(given) : asText(given)
    if (written !== '') {
      if (newest?.index === index) newest.end.push(written)
      const tool_calls = { function: { arguments: written } }
      events.push(event('tool-call-delta', { index, delta: { message: { tool_calls } } }))
    }
    return events
  }

  return {
    write(chunk) {
      if (chunk.usage) usage = chunk.usage
      const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
      if (!choice) return joinBytes(begin(chunk))
      const { content, refusal, reasoning_content, tool_calls } = contentFields(choice.delta)
      finish = choice.finish_reason ?? finish
      return joinBytes([
        ...begin(chunk),
        ...say('thinking', reasoning_content),
        ...say('text', content),
        ...say('text', refusal),
        ...tool_calls.flatMap(call),
      ])
    },
    close() {
      const reason = calls.size > 0 && finish !== 'length' ? 'TOOL_CALL' : finishOf(finish)
      return joinBytes([
        ...endPart(),
        ...[...unended].flatMap(endCall),
        event('message-end', { delta: { finish_reason: reason, ...cohereUsage(usage) } }),
      ])
    },
  }
}

/** The event that ends a stream which failed after it began. */
export function cohereErrorEvent({ message }: GatewayError): Uint8Array {
  return event('message-end', { delta: { finish_reason: 'ERROR', error: message } })
}
