import { describe, expect, it } from 'vitest'
import { frameSplitter, readFrame } from '../../../src/lib/bytes/sse.ts'
import { busyMs } from '../../support/busy-ms.ts'

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

  it.each(['\r\n', '\r'])('looks at many events of one piece once, of lines that end in %j', (end) => {
    const bytes = encoder.encode(`data: {}${end}${end}`.repeat(100_000))
    const busy = busyMs(() => {
      expect(frameSplitter().push(bytes).length).toBeGreaterThan(99_998)
    })
    expect(busy).toBeLessThan(2000)
  })

  it('leaves out byte order marks before events, wherever the bytes are cut', () => {
    const mark = '\ufeff'
    const bytes = encoder.encode(
      `${mark}data: 1\n\n${mark}${mark}data: ${mark}2\n\n${mark}data: [DONE]\n\n${mark}data: 4`,
    )
    for (let at = 0; at <= bytes.byteLength; at++) {
      const { frames, rest } = cut(bytes, at)
      const passedOn = [...frames, ...(rest ? [rest] : [])].map((frame) => Buffer.from(frame.bytes).toString())
      expect(passedOn).toEqual(['data: 1\n\n', `data: ${mark}2\n\n`, 'data: [DONE]\n\n', 'data: 4'])
      expect(frames.map((frame) => readFrame(frame).data)).toEqual(['1', `${mark}2`, '[DONE]'])
    }
  })

  it('gives back every byte', () => {
    const bytes = encoder.encode(`${stream}data: tail`)
    const { frames, rest } = cut(bytes, 3, 9, 40)
    const all = [...frames.map((frame) => frame.bytes), rest?.bytes ?? new Uint8Array()]
    expect(new TextDecoder().decode(Uint8Array.from(all.flatMap((piece) => [...piece])))).toBe(`${stream}data: tail`)
  })

  it.each(['\n', '\r\n', '\r'])(
    'finds the end of a long event wherever that is cut, of lines that end in %j',
    (end) => {
      const long = `data: ${'x'.repeat(70_000)}`
      const bytes = encoder.encode(`${long}${end}${long}${end}${end}data: 2${end}${end}data: 3`)
      for (let at = 139_990; at < bytes.byteLength; at++) {
        const { frames, rest } = cut(bytes, 66_000, 70_003, 100_000, at - 1, at)
        expect(frames.map(readFrame).map(({ data }) => data?.length)).toEqual([140_001, 1])
        expect(frames.reduce((sum, frame) => sum + frame.bytes.byteLength, 0) + (rest?.bytes.byteLength ?? 0)).toBe(
          bytes.byteLength,
        )
        expect(rest?.text).toBe('data: 3')
      }
    },
  )

  it('takes no more time for each piece of a long event', () => {
    const splitter = frameSplitter()
    const piece = new Uint8Array(1024).fill(97)
    const busy = busyMs(() => {
      for (let count = 0; count < 15_000; count++) if (splitter.push(piece).length > 0) throw new Error('an event')
    })
    expect(busy).toBeLessThan(5000)
    expect(splitter.push(encoder.encode('\n\n'))[0]?.bytes.byteLength).toBe(15_000 * 1024 + 2)
  })

  it('refuses an event that never ends', () => {
    expect(() => frameSplitter(10).push(encoder.encode('data: 0123456789'))).toThrow(RangeError)
    const splitter = frameSplitter(100_000)
    splitter.push(new Uint8Array(90_000).fill(97))
    expect(() => splitter.push(new Uint8Array(20_000).fill(97))).toThrow(RangeError)
  })
})
