import { readFrame } from '../../lib/bytes/sse.ts'
import { type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { StreamReader, StreamStep } from '../provider.ts'
import { sseReader } from './sse-reader.ts'

/** A reader that relays events as they are; `read` gives the meaning of one, from its JSON. */
export function relayedEvents(read: (event: JsonRecord) => StreamStep, closing: () => Uint8Array): StreamReader {
  return sseReader((frame) => {
    const { data } = readFrame(frame)
    if (data === undefined) return { out: frame.bytes }
    const event = parseRecord(data)
    if (!event) return { malformed: true }
    const step = read(event)
    return step.failure ? step : { ...step, out: frame.bytes }
  }, closing)
}
