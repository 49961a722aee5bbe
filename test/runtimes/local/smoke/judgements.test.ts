import { describe, expect, it } from 'vitest'
import { clockSkew, transportOf } from '../../../../src/runtimes/local/smoke/judge-front.ts'
import { judgeStream } from '../../../../src/runtimes/local/smoke/judge-stream.ts'

const STRICT = 'max-age=31536000'

describe('the way to a gateway', () => {
  it.each([
    ['https://gateway.example', 'TLSv1.3', STRICT, true],
    ['https://gateway.example', 'TLSv1.2', `${STRICT}; includeSubDomains`, true],
    ['https://gateway.example', 'TLSv1.1', STRICT, false],
    ['https://gateway.example', 'TLSv1.3', undefined, false],
    ['https://gateway.example', 'TLSv1.3', 'max-age=0', false],
    ['http://127.0.0.1:8787', undefined, undefined, true],
    ['http://localhost:8787', undefined, undefined, true],
    ['http://gateway.example', undefined, STRICT, false],
    ['http://127.0.0.1.example', undefined, undefined, false],
  ])('%s by %s with %s: %s', (url, tls, strict, ok) => {
    expect(transportOf(url, tls, strict).ok).toBe(ok)
  })

  it('has a clock that is compared within what a Date and the way can show', () => {
    const at = (seconds: number) => Date.parse('2026-11-23T08:00:00Z') + 1000 * seconds
    const date = new Date(at(0)).toUTCString()
    expect(clockSkew(date, at(0.2), at(0.9))).toBe(0)
    expect(clockSkew(date, at(-2), at(0.1))).toBe(0)
    expect(clockSkew(date, at(9), at(10))).toBe(8000)
    expect(clockSkew(date, at(-10), at(-9))).toBe(9000)
    expect(clockSkew('yesterday', at(0), at(1))).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('a stream', () => {
  const event = (content: string) => `data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`
  /** Ten events and an end, at these times. */
  const seen = (times: readonly number[]) => {
    const texts = [...Array.from({ length: 10 }, (_, index) => event(String(index))), 'data: [DONE]\n\n']
    const pieces = times.map((atMs, index) => ({
      atMs,
      text: index < times.length - 1 ? (texts[index] as string) : texts.slice(index).join(''),
    }))
    return { type: 'text/event-stream', pieces, endMs: times.at(-1) as number }
  }
  const steadily = Array.from({ length: 11 }, (_, index) => 500 + 100 * index)

  it.each([
    ['comes as the gateway made it', steadily, { firstMs: 480, totalMs: 1480 }, true],
    ['comes in one piece at its end', [1490], { firstMs: 480, totalMs: 1480 }, false],
    ['comes late as a whole', steadily.map((at) => at + 5000), { firstMs: 480, totalMs: 1480 }, false],
    ['is made at once after long thought', [9000], { firstMs: 8990, totalMs: 9000 }, true],
    ['comes in parts, and nobody says when they were made', steadily, undefined, true],
    ['comes in one piece after long, and nobody says when it was made', [9000], undefined, false],
    ['comes in one piece at once, and nobody says when it was made', [90], undefined, true],
  ] as const)('that %s', (_, times, made, ok) => {
    expect(judgeStream(seen(times), made, 2000).ok).toBe(ok)
  })

  it('without content, or without its end, is none', () => {
    const whole = seen(steadily)
    expect(judgeStream({ ...whole, pieces: whole.pieces.slice(0, -1) }, undefined, 2000).ok).toBe(false)
    expect(judgeStream({ ...whole, pieces: whole.pieces.slice(-1) }, undefined, 2000).ok).toBe(false)
    expect(judgeStream({ ...whole, type: 'application/json' }, undefined, 2000).ok).toBe(false)
  })
})
