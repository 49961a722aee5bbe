import { joinBytes } from '../../lib/bytes/bytes.ts'
import { boundForeign } from '../../lib/json/json-bounds.ts'
import { type Fields, joinedStream } from './joined-stream.ts'
import { type LoggingRules, loggable } from './loggable.ts'
import { markOf } from './without-media.ts'

/** The content of a call as it may leave by sinks: JSON texts. */
export interface CallContent {
  readonly request: string
  readonly answer: string
}

/** Records the content of one call until it ends. */
export interface Recording {
  /** A whole answer. */
  whole(bytes: Uint8Array, contentType: string): void
  /** A piece of a stream, as the client gets it. */
  piece(bytes: Uint8Array): void
  /** The content that may be logged. Called once; frees the recording. */
  end(request: unknown): CallContent | undefined
}

/** Memory that the recordings of a process may occupy together, in bytes. */
export interface RecordingRoom {
  left: number
}

/** The most that is remembered of one stream. */
const STREAM_BYTES = 1024 * 1024
/** The runtime may free longer answers as soon as they are sent. */
const FREED_BYTES = 65_536

export function recording(rules: LoggingRules, room: RecordingRoom): Recording {
  let pieces: Uint8Array[] = []
  let held = 0
  let omitted = 0
  let type: string | undefined

  /** Remembers a copy, if there is room for it. */
  function keep(bytes: Uint8Array, most: number): void {
    if (omitted > 0 || held + bytes.byteLength > most || bytes.byteLength > room.left) {
      omitted += bytes.byteLength
      return
    }
    held += bytes.byteLength
    room.left -= bytes.byteLength
    pieces.push(bytes.slice())
  }

  function release(): void {
    room.left += held
    held = 0
    pieces = []
  }

  function answer(): unknown {
    if (type === undefined) return pieces.length === 0 && omitted === 0 ? null : ofStream(joinBytes(pieces), omitted)
    if (omitted > 0) return `[${omitted} bytes were too many to keep]`
    return /\bjson\b/i.test(type) ? parsed(joinBytes(pieces)) : ofBytes(joinBytes(pieces), type)
  }

  return {
    whole(bytes, contentType) {
      type = contentType
      if (bytes.byteLength < FREED_BYTES) pieces.push(bytes)
      else keep(bytes, Number.POSITIVE_INFINITY)
    },
    piece: (bytes) => keep(bytes, STREAM_BYTES),
    end(request) {
      try {
        return { request: loggable(request, rules), answer: loggable(answer(), rules) }
      } catch {
        // A member that is read only now may turn out to be no JSON.
        return undefined
      } finally {
        release()
      }
    },
  }
}

const decoder = new TextDecoder()

function parsed(bytes: Uint8Array): unknown {
  try {
    boundForeign(bytes)
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return `[${bytes.byteLength} bytes that are no JSON]`
  }
}

function ofBytes(bytes: Uint8Array, contentType: string): unknown {
  return /^text\//i.test(contentType) ? decoder.decode(bytes) : markOf(bytes, contentType.split(';')[0])
}

/** Joins the recorded part of a stream. */
function ofStream(bytes: Uint8Array, omitted: number): unknown {
  const events: Fields[] = []
  for (const line of decoder.decode(bytes).split(/\r\n|\n|\r/)) {
    if (!line.startsWith('data:')) continue
    const event = eventIn(line.slice(5))
    if (event) events.push(event)
  }
  const joined = joinedStream(events) ?? `[a stream of ${bytes.byteLength + omitted} bytes]`
  return omitted > 0 ? { answer: joined, omitted_bytes: omitted } : joined
}

function eventIn(text: string): Fields | undefined {
  try {
    const event: unknown = JSON.parse(text)
    return typeof event === 'object' && event !== null ? (event as Fields) : undefined
  } catch {
    return undefined
  }
}
