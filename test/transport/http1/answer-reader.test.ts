import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BrokenAnswer } from '../../../src/transport/http1/answer-head.ts'
import { answerReader } from '../../../src/transport/http1/answer-reader.node.ts'

const VALID = [
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-a: b\r\n\r\nhello',
  'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nx-t: 1\r\n\r\n',
  'HTTP/1.0 200 OK\r\n\r\nto the end',
  'HTTP/1.1 204 No Content\r\nkeep-alive: timeout=5\r\n\r\n',
]

/** What a reader understands of these pieces. */
function understood(pieces: readonly Buffer[]) {
  const reader = answerReader()
  const heads: unknown[] = []
  let body = ''
  reader.begin({
    head: (status, headers) => heads.push([status, headers]),
    data: (piece) => {
      body += Buffer.from(piece).toString('latin1')
    },
  })
  let behind: number | undefined
  let broken = false
  for (const piece of pieces) {
    // What comes behind a whole answer is not read.
    if (behind !== undefined) behind += piece.byteLength
    else if (!broken) {
      try {
        behind = reader.read(piece)
      } catch (error) {
        if (!(error instanceof BrokenAnswer)) throw error
        broken = true
      }
    }
  }
  const open = behind === undefined && !broken
  return { heads, body, behind, broken, endsHere: open && reader.endsHere(), kept: open ? undefined : reader.kept() }
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length].sort((a, b) => a - b)
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end)).filter((piece) => piece.length > 0)
}

const places = fc.array(fc.nat(), { maxLength: 8 })
const fragment = fc.constantFrom(
  ...[
    '\r\n',
    '\r',
    '\n',
    ' ',
    ':',
    '0',
    '5',
    ';',
    'chunked',
    'content-length: 5\r\n',
    'transfer-encoding: chunked\r\n',
  ],
  ...['connection: close\r\n', 'HTTP/1.1 200 OK\r\n', '\r\n\r\n', '0\r\n\r\n', '\0', '\xff'],
)

describe('an answer that is read', () => {
  it('means the same, however it is cut', () => {
    fc.assert(
      fc.property(fc.constantFrom(...VALID), places, (text, at) => {
        const bytes = Buffer.from(text, 'latin1')
        const whole = understood([bytes])
        expect(whole.broken).toBe(false)
        expect(understood(cut(bytes, at))).toEqual(whole)
      }),
    )
  })

  it('means the same or nothing, however it is cut, where anything was put into it', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), fragment), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.constantFrom(...VALID), edits, places, (text, changes, at) => {
        let changed = text
        for (const [place, gone, put] of changes) {
          const from = place % (changed.length + 1)
          changed = changed.slice(0, from) + put + changed.slice(from + gone)
        }
        const bytes = Buffer.from(changed, 'latin1')
        expect(understood(cut(bytes, at))).toEqual(understood([bytes]))
      }),
      { numRuns: 1000 },
    )
  })

  it('of any bytes is an answer, the beginning of one, or broken', () => {
    const pieces = fc.array(fc.oneof(fragment, fc.uint8Array({ maxLength: 10 })), { maxLength: 12 })
    fc.assert(
      fc.property(pieces, places, (texts, at) => {
        const bytes = Buffer.concat(texts.map((one) => (typeof one === 'string' ? Buffer.from(one, 'latin1') : one)))
        expect(understood(cut(bytes, at))).toEqual(understood([bytes]))
      }),
      { numRuns: 1000 },
    )
  })
})
