import { joinBytes } from './bytes.ts'

/** The content type of events, as they are sent. */
export const EVENTS_TYPE = 'text/event-stream; charset=utf-8'

const decoder = new TextDecoder('latin1')
const utf8 = new TextDecoder()

/** One event as it arrived, with the blank line that ends it: its bytes, and a text with one character for each byte,
 *  which is cheap to search. */
export interface Frame {
  readonly bytes: Uint8Array
  readonly text: string
}

/** Consecutive complete events, with the end of each. */
export interface Frames extends Frame {
  readonly ends: readonly number[]
}

/** A byte order mark with a character for each byte, and its first byte. */
const MARK = '\u00ef\u00bb\u00bf'
const MARK_BEGINS = 0xef

/** The part of a frame between two offsets, without byte order marks before it: whoever joins streams leaves them
 *  anywhere, and a client that does not know an event by its first byte would lose it in silence. */
export function frameIn({ bytes, text }: Frame, from: number, end: number): Frame {
  let start = from
  while (text.charCodeAt(start) === MARK_BEGINS && text.startsWith(MARK, start)) start += MARK.length
  if (start === 0 && end === bytes.byteLength) return { bytes, text }
  return { bytes: bytes.subarray(start, end), text: text.slice(start, end) }
}

/** An incomplete event of more bytes is not searched again with each piece. */
const LONG_BYTES = 65_536
/** The length of the longest event end without its last byte. */
const SEAM_CHARACTERS = 3

/** Splits a byte stream, cut into pieces anywhere, into server-sent events. Lines may end in \n, \r\n or \r. */
export function frameSplitter(limitBytes = 16 * 1024 * 1024) {
  /** The pieces of an incomplete event. */
  let rest: Uint8Array[] = []
  let restBytes = 0
  let seam = ''

  function keep(piece: Uint8Array, text: string): void {
    rest.push(piece)
    restBytes += piece.byteLength
    if (restBytes > limitBytes) throw new RangeError('an event of the stream is too large')
    if (restBytes >= LONG_BYTES) seam = text.slice(-SEAM_CHARACTERS)
  }

  function takeRest(): Uint8Array {
    const bytes = joinBytes(rest)
    rest = []
    restBytes = 0
    return bytes
  }

  function cut(piece: Uint8Array): Frames {
    if (restBytes >= LONG_BYTES) {
      const around = seam + decoder.decode(piece)
      if (endIn(around)(around, 0) === -1) {
        keep(piece, around)
        return { bytes: piece, text: '', ends: [] }
      }
    }
    let bytes = piece
    if (restBytes > 0) {
      rest.push(piece)
      bytes = takeRest()
    }
    const text = decoder.decode(bytes)
    const endOf = endIn(text)
    const ends: number[] = []
    let start = 0
    for (let end = endOf(text, start); end !== -1; end = endOf(text, start)) {
      ends.push(end)
      start = end
    }
    if (start < bytes.byteLength) keep(bytes.subarray(start), text)
    return { bytes, text, ends }
  }

  return {
    /** The events that a piece completes, not split: a consumer may handle many at once. */
    cut,
    push(piece: Uint8Array): Frame[] {
      const frames = cut(piece)
      return frames.ends.map((end, index) => frameIn(frames, frames.ends[index - 1] ?? 0, end))
    },
    /** The bytes after the last blank line. */
    rest(): Frame | undefined {
      if (restBytes === 0) return undefined
      const bytes = joinBytes(rest)
      return frameIn({ bytes, text: decoder.decode(bytes) }, 0, bytes.byteLength)
    },
  }
}

const endIn = (text: string) => (text.includes('\r') ? frameEnd : plainFrameEnd)

/** `frameEnd` for text whose lines all end in \n. */
function plainFrameEnd(text: string, from: number): number {
  const line = text.indexOf('\n\n', from)
  return line === -1 ? -1 : line + 2
}

/** The index behind the first blank line at or after `from`; -1 if there is none yet. A \r at the end of the text is no
 *  line end yet, since its \n may follow. */
function frameEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const first = lineEnd(text, at)
    if (first === 0) continue
    if (first === -1) return -1
    const second = at + first < text.length ? lineEnd(text, at + first) : 0
    if (second === -1) return -1
    if (second > 0) return at + first + second
    at += first - 1
  }
  return -1
}

/** The length of the line end at `at`; 0 if there is none, -1 if that depends on the next byte. */
function lineEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === 10) return 1
  if (code !== 13) return 0
  if (at + 1 >= text.length) return -1
  return text.charCodeAt(at + 1) === 10 ? 2 : 1
}

export interface SseEvent {
  readonly event: string
  /** undefined for a frame without data, such as a comment. */
  readonly data: string | undefined
}

/** Parses one frame, and joins its data lines as the standard says. */
export function readFrame(frame: Frame): SseEvent {
  let event = ''
  let data: string | undefined
  for (const line of utf8.decode(frame.bytes).split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) {
      const value = line.startsWith('data: ') ? line.slice(6) : line.slice(5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line.startsWith('event:')) {
      event = line.slice(6).trim()
    }
  }
  return { event, data }
}
