import { joinBytes } from './bytes.ts'

const decoder = new TextDecoder('latin1')
const utf8 = new TextDecoder()

/** One event as it came: its bytes with the blank line that ends it, and the same as text of one character a byte, for
 *  cheap searching. */
export interface Frame {
  readonly bytes: Uint8Array
  readonly text: string
}

/** Some whole events in a row, and where each of them ends. */
export interface Frames extends Frame {
  readonly ends: readonly number[]
}

/** The events between two places. */
export function frameIn({ bytes, text }: Frame, start: number, end: number): Frame {
  if (start === 0 && end === bytes.byteLength) return { bytes, text }
  return { bytes: bytes.subarray(start, end), text: text.slice(start, end) }
}

/** An event that is longer than this is not looked through again with every piece that comes of it. */
const LONG_BYTES = 65_536
/** The longest end of an event but its last byte. */
const SEAM_LETTERS = 3

/** Cuts a byte stream into server-sent events, wherever its pieces were cut. Lines may end in \n, \r\n or \r. */
export function frameSplitter(limitBytes = 16 * 1024 * 1024) {
  /** What has come of an event that has not ended; of a long one in the pieces in which it came. */
  let rest: Uint8Array[] = []
  let restBytes = 0
  let seam = ''

  function keep(piece: Uint8Array, text: string): void {
    rest.push(piece)
    restBytes += piece.byteLength
    if (restBytes > limitBytes) throw new RangeError('an event of the stream is too large')
    if (restBytes >= LONG_BYTES) seam = text.slice(-SEAM_LETTERS)
  }

  function taken(): Uint8Array {
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
      bytes = taken()
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
    /** The events that a piece completes, uncut: many mean the same, and need not be looked at one by one. */
    cut,
    push(piece: Uint8Array): Frame[] {
      const frames = cut(piece)
      return frames.ends.map((end, index) => frameIn(frames, frames.ends[index - 1] ?? 0, end))
    },
    /** What came after the last blank line. */
    rest(): Frame | undefined {
      if (restBytes === 0) return undefined
      const bytes = joinBytes(rest)
      return { bytes, text: decoder.decode(bytes) }
    },
  }
}

const endIn = (text: string) => (text.includes('\r') ? frameEnd : plainFrameEnd)

/** The same where all lines end in \n. */
function plainFrameEnd(text: string, from: number): number {
  const line = text.indexOf('\n\n', from)
  return line === -1 ? -1 : line + 2
}

/** Index behind the first blank line at or after `from`, -1 when there is none yet. A lone \r at the very end is not
 *  yet known to be a line end, since its \n may follow. */
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

/** Length of the line end at `at`; 0 when there is none, -1 when more bytes are needed to tell. */
function lineEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === 10) return 1
  if (code !== 13) return 0
  if (at + 1 >= text.length) return -1
  return text.charCodeAt(at + 1) === 10 ? 2 : 1
}

export interface SseEvent {
  readonly event: string
  /** undefined for a frame without data: comments. */
  readonly data: string | undefined
}

/** Reads one frame: its data lines joined, as the standard says. */
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
