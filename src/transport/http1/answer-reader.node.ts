import type { IncomingAnswer } from '../incoming-answer.node.ts'
import { BrokenAnswer, type Framing, firstLine, framingOf } from './answer-head.ts'
import { addField, type HeaderFields } from './header-line.node.ts'

/** Longer heads, trailers and sizes of chunks are refused. */
const LONGEST_LINES_BYTES = 16_384
const SIZE = /^([\da-fA-F]{1,12})(?:;[\t\x20-\x7e\x80-\xff]*)?$/
const [LF, CR] = [10, 13]

/** What is told of an answer while it arrives. */
type Receiver = Pick<IncomingAnswer, 'head' | 'data'>

/** Reads the answers that come over one connection, one after the other. It throws BrokenAnswer where there is none. */
export interface AnswerReader {
  /** Waits for the answer to a new request. */
  begin(receiver: Receiver): void
  /** Takes the next bytes, and copies what it keeps of them. Returns how many of them came behind the whole answer;
   *  undefined before it is whole. */
  read(bytes: Buffer): number | undefined
  /** Whether the answer is whole where its connection ends. */
  endsHere(): boolean
  /** Of the answer that is whole. */
  kept(): Framing['kept']
}

type Part = 'first line' | 'headers' | 'body' | 'size' | 'chunk' | 'end of chunk' | 'trailers'

export function answerReader(): AnswerReader {
  let receiver: Receiver
  let part: Part
  let [status, old]: [number, boolean] = [0, false]
  let fields: HeaderFields = {}
  let kept: Framing['kept']
  /** What is missing of the body or the chunk. */
  let missing = 0
  /** The beginning of a line, and how long the lines before it are. */
  let held: Buffer | undefined
  let taken = 0

  /** Takes the line between two places. Returns whether the answer is whole. */
  function takeLine(bytes: Buffer, start: number, end: number): boolean {
    const isEmpty = start === end
    if (part === 'headers') {
      if (isEmpty) return takeHead()
      add(bytes, start, end)
    } else if (part === 'first line') {
      // Some upstreams end a body with a line break that is not part of it.
      if (isEmpty) return false
      ;({ status, old } = firstLine(bytes.toString('latin1', start, end)))
      part = 'headers'
    } else if (part === 'size') {
      const size = SIZE.exec(bytes.toString('latin1', start, end))?.[1]
      if (size === undefined) throw new BrokenAnswer('a chunk is malformed')
      missing = Number.parseInt(size, 16)
      part = missing > 0 ? 'chunk' : 'trailers'
      fields = {}
      taken = 0
    } else if (part === 'end of chunk') {
      if (!isEmpty) throw new BrokenAnswer('a chunk is malformed')
      part = 'size'
    } else {
      if (isEmpty) return true
      add(bytes, start, end)
      if ('content-length' in fields || 'transfer-encoding' in fields)
        throw new BrokenAnswer('the trailers hold a length')
    }
    return false
  }

  function add(bytes: Buffer, start: number, end: number): void {
    if (addField(fields, bytes, start, end) === 'malformed') throw new BrokenAnswer('a header is malformed')
  }

  function takeHead(): boolean {
    const headers = fields
    fields = {}
    part = 'first line'
    // The final answer comes behind an interim one.
    if (status < 200) return false
    const framing = framingOf(status, old, headers)
    kept = framing.kept
    missing = framing.length ?? 0
    part = framing.length === undefined ? 'size' : 'body'
    receiver.head(status, headers)
    return framing.length === 0
  }

  return {
    begin(next) {
      receiver = next
      part = 'first line'
      fields = {}
      held = undefined
      taken = 0
    },
    read(came) {
      const bytes = held ? Buffer.concat([held, came]) : came
      held = undefined
      for (let at = 0; at < bytes.length; ) {
        if (part === 'body' || part === 'chunk') {
          const end = Math.min(bytes.length, at + missing)
          receiver.data(copyOf(bytes, at, end))
          missing -= end - at
          at = end
          if (missing > 0) return undefined
          if (part === 'body') return bytes.length - at
          part = 'end of chunk'
        } else {
          const end = bytes.indexOf(LF, at)
          if (taken + (end === -1 ? bytes.length : end) - at > LONGEST_LINES_BYTES)
            throw new BrokenAnswer('the head is too long')
          if (end === -1) {
            held = copyOf(bytes, at, bytes.length)
            if (part === 'first line' && !looksLikeHttp(held)) throw new BrokenAnswer('the first line is none')
            return undefined
          }
          if (end === at || bytes[end - 1] !== CR) throw new BrokenAnswer('a line has no proper end')
          taken += end - at
          const start = at
          at = end + 1
          if (takeLine(bytes, start, end - 1)) return bytes.length - at
        }
      }
      return undefined
    },
    endsHere: () => part === 'body' && missing === Number.POSITIVE_INFINITY,
    kept: () => kept,
  }
}

/** Whether a first line may begin like this: what speaks another protocol may never end a line. */
function looksLikeHttp(bytes: Buffer): boolean {
  return bytes[0] === CR || 'HTTP/1.'.startsWith(bytes.toString('latin1', 0, 7))
}

function copyOf(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from)
  bytes.copy(copy, 0, from, to)
  return copy
}
