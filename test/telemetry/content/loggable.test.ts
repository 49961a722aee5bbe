import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactly } from '../../../src/lib/json/exact-json.ts'
import { type LoggingRules, loggable } from '../../../src/telemetry/content/loggable.ts'
import { busyMs } from '../../support/busy-ms.ts'

const rules = (changes: Partial<LoggingRules> = {}): LoggingRules => ({ maxBytes: 4096, redact: [], ...changes })
const logged = (value: unknown, changes?: Partial<LoggingRules>) => JSON.parse(loggable(value, rules(changes)))

describe('content that may be logged', () => {
  it('stays as it is where it is short', () => {
    const value = { messages: [{ role: 'user', content: 'Grüße 👋' }], n: 1, stop: null, deep: { list: [1, true] } }
    expect(logged(value)).toEqual(value)
  })

  it('has integers of 64 bits as they are', () => {
    const text = '{"input":{"id":1234567890123456789}}'
    expect(loggable(parseExactly(text), rules())).toBe(text)
  })

  it('has files as their type, size and hash', () => {
    const bytes = Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 251))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const base64 = bytes.toString('base64')
    expect(
      logged({ url: `data:image/png;base64,${base64}`, data: base64, plain: bytes.toString('base64url'), id: 'AAAA' }),
    ).toEqual({
      url: `[image/png, 3000 bytes, sha256:${sha256}]`,
      data: `[file, 3000 bytes, sha256:${sha256}]`,
      plain: `[file, 3000 bytes, sha256:${sha256}]`,
      id: 'AAAA',
    })
    // A long text is no file, even one of a single word.
    expect(logged({ text: 'a word '.repeat(100) }).text).toContain('a word')
  })

  it('has vectors as their length', () => {
    const embedding = Array.from({ length: 1536 }, (_, index) => index / 3)
    expect(logged({ data: [{ embedding, index: 0 }], few: [1, 2] })).toEqual({
      data: [{ embedding: '[1536 numbers]', index: 0 }],
      few: [1, 2],
    })
  })

  it('is redacted, in names too, before it is shortened', () => {
    const redact = [/sk-[a-z0-9]{8,}/gu, /\b\d{3}-\d{2}-\d{4}\b/gu]
    expect(logged({ a: 'my key sk-abcdef123456 and 078-05-1120', 'sk-abcdefgh99': 1 }, { redact })).toEqual({
      a: 'my key [redacted] and [redacted]',
      '[redacted]': 1,
    })
    // Wherever the text is cut, no beginning of the secret is left.
    const secret = `sk-${'a1'.repeat(20)}`
    for (let at = 900; at < 1100; at += 7) {
      const text = `${'x '.repeat(at / 2)}${secret}${' y'.repeat(20_000)}`
      expect(loggable({ text }, rules({ maxBytes: 1024, redact }))).not.toContain('a1a1')
      const reversed = `${'y '.repeat(20_000)}${secret}${' x'.repeat(at / 2)}`
      expect(loggable({ text: reversed }, rules({ maxBytes: 1024, redact }))).not.toContain('a1a1')
    }
  })

  it('is shortened in the middle of its texts: the beginning and the last turn stay', () => {
    const messages = Array.from({ length: 8 }, (_, index) => ({
      role: 'user',
      content: `first-${index} ${'word '.repeat(3000)} last-${index}`,
    }))
    const text = loggable({ model: 'm', messages }, rules())
    expect(new TextEncoder().encode(text).byteLength).toBeLessThanOrEqual(4096)
    const { messages: kept } = JSON.parse(text) as { messages: { content: string }[] }
    expect(kept.map(({ content }) => [content.slice(0, 7), content.slice(-6)])).toEqual(
      messages.map((_, index) => [`first-${index}`, `last-${index}`]),
    )
  })

  it('has at most so many bytes and is JSON, whatever it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 16, max: 2000 }), (value, maxBytes) => {
        const text = loggable(value, rules({ maxBytes }))
        expect(new TextEncoder().encode(text).byteLength).toBeLessThanOrEqual(maxBytes)
        JSON.parse(text)
      }),
    )
  })

  it('costs little, however large it was', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)
    const wide = Array.from({ length: 300_000 }, (_, index) => ({ index, text: 'x'.repeat(20) }))
    const long = '👋 '.repeat(5_000_000)
    const busy = busyMs(() => {
      for (const value of [deep, wide, long]) expect(loggable(value, rules()).length).toBeLessThanOrEqual(4096)
    })
    expect(busy).toBeLessThan(1500)
  })
})
