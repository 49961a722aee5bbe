import { describe, expect, it } from 'vitest'
import { recordingLength } from '../../src/modes/recording-length.ts'

function secondsOf(bytes: Uint8Array, cut = bytes.byteLength): number | undefined {
  const length = recordingLength()
  for (let at = 0; at < bytes.byteLength; at += cut) length.push(bytes.subarray(at, at + cut))
  return length.seconds()
}

const joined = (...parts: readonly Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]))
const ascii = (text: string) => new TextEncoder().encode(text)

interface Format {
  readonly tag?: number
  readonly channels?: number
  readonly rate?: number
  readonly bits?: number
  readonly align?: number
  readonly byteRate?: number
}

function wav(seconds: number, format: Format = {}, before = new Uint8Array()): Uint8Array {
  const { tag = 1, channels = 1, rate = 8000, bits = 16 } = format
  const { align = (channels * bits) / 8, byteRate = rate * align } = format
  const header = new DataView(new ArrayBuffer(24))
  header.setUint32(0, 0x666d7420)
  header.setUint32(4, 16, true)
  header.setUint16(8, tag, true)
  header.setUint16(10, channels, true)
  header.setUint32(12, rate, true)
  header.setUint32(16, byteRate, true)
  header.setUint16(20, align, true)
  header.setUint16(22, bits, true)
  const samples = new Uint8Array(Math.round((seconds * rate * channels * bits) / 8))
  // The length that it claims is a lie: one byte.
  const data = joined(ascii('data'), new Uint8Array([1, 0, 0, 0]), samples)
  return joined(ascii('RIFF'), new Uint8Array(4), ascii('WAVE'), before, new Uint8Array(header.buffer), data)
}

/** So many frames of 8 kbit/s at 16 kHz: 36 bytes, 36 ms. */
const frames = (count: number, header: readonly number[] = [0xff, 0xf3, 0x18, 0xc4], bytes = 36) =>
  joined(
    ...Array.from({ length: count }, () => new Uint8Array([...header, ...new Array(bytes - header.length).fill(7)])),
  )

describe('how long a recording is', () => {
  it.each([
    ['plain samples', wav(3), 3],
    ['many channels', wav(2, { channels: 2, rate: 48_000, bits: 24 }), 2],
    ['samples of eight bits', wav(5, { tag: 7, bits: 8 }), 5],
    ['samples behind another chunk', wav(3, {}, joined(ascii('JUNK'), new Uint8Array([3, 0, 0, 0, 1, 2, 3, 0]))), 3],
    ['frames', frames(100), 3.6],
    [
      'frames behind a tag',
      joined(ascii('ID3'), new Uint8Array([4, 0, 0, 0, 0, 1, 2]), new Uint8Array(130), frames(50)),
      1.8,
    ],
    ['frames before the tag of a player', joined(frames(50), ascii('TAG'), new Uint8Array(125)), 1.8],
    ['frames of 128 kbit/s', frames(10, [0xff, 0xfb, 0x90, 0xc4], 417), 0.261],
  ])('is known of %s, however it comes', (_, bytes, seconds) => {
    for (const cut of [1, 7, 4096, bytes.byteLength]) expect(secondsOf(bytes, cut)).toBeCloseTo(seconds, 2)
  })

  it.each([
    ['nothing', new Uint8Array()],
    ['words', ascii('RIFF')],
    ['compressed samples', wav(3, { tag: 2, bits: 4 })],
    ['numbers that do not agree', wav(3, { byteRate: 1_000_000 })],
    ['a block that is larger than its samples', wav(3, { align: 4000 })],
    ['samples slower than any', wav(3, { rate: 1 })],
    ['no channel', wav(0, { channels: 0 })],
    ['another container', joined(ascii('OggS'), new Uint8Array(5000))],
    ['frames, and then something else', joined(frames(2), new Uint8Array(10_000))],
    ['a tag that claims everything', joined(ascii('ID3'), new Uint8Array([4, 0, 0, 127, 127, 127, 127]), frames(50))],
    ['a frame that claims no bit rate', frames(3, [0xff, 0xf3, 0x08, 0xc4])],
  ])('is not known of %s', (_, bytes) => {
    expect(secondsOf(bytes)).toBeUndefined()
    expect(secondsOf(bytes, 1)).toBeUndefined()
  })
})
