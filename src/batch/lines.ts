import { joinBytes } from '../lib/bytes/bytes.ts'

/** A line of a file that is not blank. */
export interface Line {
  /** Counts all lines, from 1. */
  readonly line: number
  /** Its first byte in the file. */
  readonly offset: number
  readonly length: number
  /** The bytes without the line's end; undefined if the line is longer than the limit. May be a view of the arriving
   *  piece. */
  readonly bytes: Uint8Array | undefined
}

const [NEWLINE, RETURN, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09]

/** Cuts arriving bytes into lines. No more than one line of the longest length is held. */
export interface LineSplitter {
  /** The lines that these bytes complete. */
  push(piece: Uint8Array): Iterable<Line>
  /** The last line, if it has no end of its own. */
  end(): Iterable<Line>
}

/** `from` is where the bytes begin in their file, at the beginning of a line. */
export function lineSplitter(
  longest: number,
  from: { readonly offset: number; readonly line: number } = { offset: 0, line: 1 },
): LineSplitter {
  let { offset, line } = from
  /** The beginning of a line whose end has not arrived. */
  let pending: Uint8Array[] = []
  let length = 0
  let isBlank = true

  /** More of the current line. */
  function hold(bytes: Uint8Array): void {
    isBlank &&= bytes.every((byte) => byte === SPACE || byte === TAB || byte === RETURN)
    length += bytes.byteLength
    if (length <= longest + 1) pending.push(bytes)
    else pending = []
  }

  function* close(endBytes: number): Iterable<Line> {
    if (!isBlank) {
      const bytes = length <= longest + 1 ? withoutReturn(pending) : undefined
      const fits = bytes !== undefined && bytes.byteLength <= longest
      yield { line, offset, length, bytes: fits ? bytes : undefined }
    }
    offset += length + endBytes
    line += 1
    pending = []
    length = 0
    isBlank = true
  }

  return {
    *push(piece) {
      let start = 0
      for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, start)) {
        hold(piece.subarray(start, end))
        yield* close(1)
        start = end + 1
      }
      if (start < piece.byteLength) hold(piece.slice(start))
    },
    *end() {
      if (length > 0) yield* close(0)
    },
  }
}

function withoutReturn(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = joinBytes(pieces)
  return bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes
}

/** The lines of a stream. */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  longest: number,
  from?: { readonly offset: number; readonly line: number },
): AsyncGenerator<Line> {
  const splitter = lineSplitter(longest, from)
  for await (const piece of stream) yield* splitter.push(piece)
  yield* splitter.end()
}
