import { describe, expect, it } from 'vitest'
import { type Line, lineSplitter } from '../../src/batch/lines.ts'

const encoder = new TextEncoder()
const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes)

function split(content: string, size: number, longest = 100): [number, number, number, string | undefined][] {
  const bytes = encoder.encode(content)
  const splitter = lineSplitter(longest)
  const lines: [number, number, number, string | undefined][] = []
  const keep = (found: Iterable<Line>) => {
    for (const { line, offset, length, bytes } of found) lines.push([line, offset, length, text(bytes)])
  }
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.slice(at, at + size)
    keep(splitter.push(piece))
    // A source may use its buffer again.
    piece.fill(0)
  }
  keep(splitter.end())
  return lines
}

describe('a file in lines', () => {
  it.each([1, 2, 3, 7, 1000])('is cut the same in pieces of %i bytes', (size) => {
    expect(split('{"a":1}\n\n  \r\n{"ü":2}\r\n{"c":3}', size)).toEqual([
      [1, 0, 7, '{"a":1}'],
      [4, 13, 9, '{"ü":2}'],
      [5, 23, 7, '{"c":3}'],
    ])
    expect(split('one\ntwo\n', size)).toEqual([
      [1, 0, 3, 'one'],
      [2, 4, 3, 'two'],
    ])
    expect(split('', size)).toEqual([])
    expect(split('\n \n\t', size)).toEqual([])
  })

  it.each([1, 4, 1000])('tells a line that is too long without holding it (pieces of %i bytes)', (size) => {
    expect(split(`${'x'.repeat(11)}\n${'y'.repeat(10)}\r\n${'z'.repeat(5000)}\nend`, size, 10)).toEqual([
      [1, 0, 11, undefined],
      [2, 12, 11, 'y'.repeat(10)],
      [3, 24, 5000, undefined],
      [4, 5025, 3, 'end'],
    ])
  })

  it('begins where its bytes do', () => {
    const splitter = lineSplitter(100, { offset: 640, line: 65 })
    expect([...splitter.push(encoder.encode('a\nb\n'))].map(({ line, offset }) => [line, offset])).toEqual([
      [65, 640],
      [66, 642],
    ])
  })
})
