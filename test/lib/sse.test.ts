import { describe, expect, it } from 'vitest'
import { frameSplitter, readFrame } from '../../src/lib/sse.ts'

const encoder = new TextEncoder()
const stream =
  ': comment\n\ndata: {"a":"é😀"}\n\nevent: ping\r\ndata: 1\r\ndata: 2\r\n\r\nid: 4\rdata:x\r\rdata: [DONE]\n\n'
const expected = [
  { event: '', data: undefined },
  { event: '', data: '{"a":"é😀"}' },
  { event: 'ping', data: '1\n2' },
  { event: '', data: 'x' },
  { event: '', data: '[DONE]' },
]

function cut(bytes: Uint8Array, ...at: number[]) {
  const splitter = frameSplitter()
  const edges = [0, ...at, bytes.byteLength]
  const frames = edges.slice(1).flatMap((end, index) => splitter.push(bytes.slice(edges[index], end)))
  return { frames, rest: splitter.rest() }
}

describe('frameSplitter', () => {
  it('finds the same events wherever the bytes are cut', () => {
    const bytes = encoder.encode(stream)
    for (let at = 0; at <= bytes.byteLength; at++) {
      const { frames, rest } = cut(bytes, at)
      expect(frames.map(readFrame)).toEqual(expected)
      expect(rest).toBeUndefined()
    }
  })

  it('gives back every byte', () => {
    const bytes = encoder.encode(`${stream}data: tail`)
    const { frames, rest } = cut(bytes, 3, 9, 40)
    const all = [...frames.map((frame) => frame.bytes), rest?.bytes ?? new Uint8Array()]
    expect(new TextDecoder().decode(Uint8Array.from(all.flatMap((piece) => [...piece])))).toBe(`${stream}data: tail`)
  })

  it('refuses an event that never ends', () => {
    const splitter = frameSplitter(10)
    expect(() => splitter.push(encoder.encode('data: 0123456789'))).toThrow(RangeError)
  })
})
