import { describe, expect, it } from 'vitest'
import { gathering } from '../../../src/lib/forms/gathering.node.ts'
import { seededRandom } from '../../support/random.ts'

describe('gathering', () => {
  it('gives back what came, however it was cut', () => {
    const random = seededRandom(7)
    const sent = Uint8Array.from({ length: 500_000 }, (_, index) => index % 251)
    const whole = gathering(Number.NaN)
    for (let at = 0; at < sent.byteLength; ) {
      const length = random.integer(1, random.integer(1, 3000))
      whole.push(sent.slice(at, at + length))
      at += length
    }
    expect(Buffer.compare(whole.bytes(), sent)).toBe(0)
  })

  it('keeps little more than the bytes themselves of a body in a million pieces', () => {
    const received = new Uint8Array(2_000_000)
    const whole = gathering(Number.NaN)
    const { heapUsed } = process.memoryUsage()
    for (let at = 0; at < received.byteLength; at++) whole.push(received.subarray(at, at + 1))
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(100_000_000)
    expect(whole.bytes().byteLength).toBe(received.byteLength)
  })
})
