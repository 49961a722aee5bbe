import { joinBytes } from '../../lib/bytes/bytes.ts'
import { asText, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { Usage } from '../../modes/usage.ts'
import type { StreamReader } from '../provider.ts'
import { sseReader } from '../wire/sse-reader.ts'
import { openaiEmbeddedFailure } from './failure.ts'
import { openaiUsage } from './usage.ts'

const encoder = new TextEncoder()

/** The public events of one stream in a server's own shape. */
export interface PublicEvents {
  /** The public event of one of its own; undefined for any other, which is relayed. */
  of(event: JsonRecord): JsonRecord | undefined
  /** The public event that a server leaves out before `[DONE]`. */
  last(): JsonRecord | undefined
}

interface Reading {
  /** The usage that an event reports. */
  readonly usageIn?: (event: JsonRecord) => Usage | undefined
  readonly publicEvents?: PublicEvents
}

/** Relays events whose JSON names their own type, until one that ends the answer, or `[DONE]`. */
export function eventRelay(
  lastEvent: RegExp,
  { usageIn = ({ usage }) => openaiUsage(usage), publicEvents }: Reading = {},
): StreamReader {
  return sseReader(
    (frame) => {
      const at = frame.text.indexOf('data:')
      if (at === -1) return frame.text.startsWith(':') ? { out: frame.bytes } : {}
      if (/^data: ?\[DONE\]/.test(frame.text)) {
        const last = publicEvents?.last()
        const out = last ? joinBytes([asEvent(last), frame.bytes]) : frame.bytes
        return { out, finished: true, done: true }
      }
      const event = parseRecord(frame.bytes.subarray(at + 5))
      if (!event) return { malformed: true }
      if (event.error || event.type === 'error') return { failure: openaiEmbeddedFailure(event.error ?? event) }
      const written = publicEvents?.of(event)
      const usage = usageIn(event)
      return {
        out: written ? asEvent(written) : frame.bytes,
        commits: true,
        ...(usage ? { usage } : {}),
        ...(lastEvent.test(asText((written ?? event).type)) ? { finished: true } : {}),
      }
    },
    () => new Uint8Array(),
  )
}

const asEvent = (event: JsonRecord) => encoder.encode(`data: ${JSON.stringify(event)}\n\n`)
