import { type Frame, readFrame } from '../../lib/bytes/sse.ts'
import type { GatewayError } from '../../lib/errors.ts'
import { asRecord, asText, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { StreamReader, StreamStep } from '../provider.ts'
import { madeField, madeInItem, madeInResponse } from '../wire/made-ids.ts'
import { sseReader } from '../wire/sse-reader.ts'
import { responsesErrorFailure, responsesFailure } from './responses-failure.ts'
import { responsesUsage } from './responses-usage.ts'

const encoder = new TextEncoder()

/** Items that begin empty: their content follows in further events. */
const OPENING: ReadonlySet<string> = new Set(['message', 'reasoning'])

/** Relays the events of a Responses stream byte for byte and reads them on the way. The last event contains the ending.
 *  The provider keeps a `stored` response. */
export function openaiResponsesStream(stored: boolean): StreamReader {
  let response: JsonRecord = {}
  let nextNumber = 0
  let hasContent = false

  const read = (frame: Frame): StreamStep[] => {
    const { data } = readFrame(frame)
    if (data === undefined) return frame.text.startsWith(':') ? [{ out: frame.bytes }] : []
    // Some vendors append the end mark of chat.
    if (data === '[DONE]') return [{ out: frame.bytes, done: true }]
    const event = parseRecord(data)
    if (!event) return [{ malformed: true }]
    if (typeof event.sequence_number === 'number') nextNumber = event.sequence_number + 1
    const type = asText(event.type)
    if (type === 'error' || event.error) return [{ failure: responsesErrorFailure(event.error ?? event) }]
    if (type === '') return [{ malformed: true }]
    if (ENDINGS.has(type)) return ending(asRecord(event.response), frame)
    if (type === 'response.created') response = asRecord(event.response)
    return [step(event, type, frame)]
  }

  const step = (event: JsonRecord, type: string, frame: Frame): StreamStep => {
    const characters = type.endsWith('.delta') ? asText(event.delta).length : 0
    const acts = type === 'response.output_item.added' && !OPENING.has(asText(asRecord(event.item).type))
    hasContent ||= characters > 0 || acts
    const made =
      type === 'response.created'
        ? madeInResponse(response, stored)
        : ITEMS.has(type)
          ? madeInItem(event.item, stored)
          : []
    return { out: frame.bytes, characters, ...(acts ? { commits: true } : {}), ...madeField(made) }
  }

  const ending = (final: JsonRecord, frame: Frame): StreamStep[] => {
    const usage = responsesUsage(final)
    const failure = hasContent && final.status === 'incomplete' ? undefined : responsesFailure(final)
    if (failure) return [...(usage ? [{ usage }] : []), { failure }]
    const known = { ...(usage ? { usage } : {}), ...madeField(madeInResponse(final, stored)) }
    return [{ out: frame.bytes, commits: true, finished: true, done: true, ...known }]
  }

  return {
    ...sseReader(read, () => new Uint8Array()),
    failing: (failure) => encoder.encode(failedEvent(failure, response, nextNumber)),
  }
}

const ITEMS: ReadonlySet<string> = new Set(['response.output_item.added', 'response.output_item.done'])
const ENDINGS: ReadonlySet<string> = new Set(
  ['completed', 'incomplete', 'failed', 'cancelled'].map((end) => `response.${end}`),
)

/** The event with which the Responses API ends a failed response. */
function failedEvent(failure: GatewayError, response: JsonRecord, sequence_number: number): string {
  const type = 'response.failed'
  const code = failure.row.type === 'rate_limit_error' ? 'rate_limit_exceeded' : 'server_error'
  const failed = { ...response, status: 'failed', error: { code, message: failure.message } }
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, response: failed })}\n\n`
}
