import { describe, expect, it } from 'vitest'
import { exactRecord, parseExactly, parseExactlyWithin } from '../../../src/lib/json/exact-json.ts'

const again = (text: string) => JSON.stringify(parseExactly(text))

describe('JSON that is written again elsewhere', () => {
  it.each([
    '{"id":1234567890123456789}',
    '[9007199254740993,-9223372036854775808,18446744073709551615]',
    '{"a":{"b":[{"c":123456789012345678901234567890}]}}',
    '{"__proto__":{"id":1234567890123456789},"text":"1234567890123456789"}',
  ])('has the integers that a double would round: %s', (text) => {
    expect(again(text)).toBe(text)
  })

  it.each([
    '{"id":9007199254740991,"next":9007199254740992}',
    '{"at":1795491579,"b":0.1}',
    '[0.12345678901234567,1e21,-0.5,true,null,"x"]',
  ])('has all other values as they are: %s', (text) => {
    expect(parseExactly(text)).toEqual(JSON.parse(text))
  })

  it('is an object or nothing where one is awaited', () => {
    expect(exactRecord('{"id":1234567890123456789}')).toBeDefined()
    expect(exactRecord(new TextEncoder().encode('{"n":1}'))).toEqual({ n: 1 })
    for (const text of ['1234567890123456789', '[1234567890123456789]', '{"id":1234567890123456789', 'null', '']) {
      expect(exactRecord(text)).toBeUndefined()
    }
    for (const levels of [9000, 1e6]) {
      const deep = `{"a":1234567890123456789,"b":${'['.repeat(levels)}${']'.repeat(levels)}}`
      expect(() => exactRecord(deep)).not.toThrow()
    }
  })

  it('finds one wherever it stands', () => {
    for (let before = 0; before <= 32; before++) {
      const text = `{"a":"${'x'.repeat(before)}","id":9007199254740993}`
      expect(JSON.stringify(exactRecord(text))).toBe(text)
    }
  })

  it('has them within members of some names, and rounds the others', () => {
    const within = (text: string) => JSON.stringify(parseExactlyWithin(text, new Set(['data'])))
    const long = '9007199254740993'
    expect(within(`{"data":{"a":[${long}]},"b":[${long},{"data":[${long}]}]}`)).toBe(
      `{"data":{"a":[${long}]},"b":[9007199254740992,{"data":[${long}]}]}`,
    )
    expect(within(`{"__proto__":{"a":${long}},"text":":${long}"}`)).toBe(
      `{"__proto__":{"a":9007199254740992},"text":":${long}"}`,
    )
    expect(parseExactlyWithin(`{"a":${long}}`, new Set(['a']))).toEqual({ a: 9007199254740992 })
    expect(() => within(`[${long}`)).toThrow(SyntaxError)
  })

  it('looks at each value of a document of some length, not at those of an endless one', () => {
    const long = '1234567890123456789'
    const of = (item: string, count: number) => `{"data":[${long}${`,${item}`.repeat(count)}]}`
    const exactly = (text: string) => [again(text), JSON.stringify(parseExactlyWithin(text, new Set(['data'])))]
    // Commas and quotes in texts are no values.
    for (const text of [
      of('1', 9_998),
      of('[{}]', 3_332),
      of('",,\\",,\\\\"', 9_998),
      of(`"${','.repeat(100_000)}"`, 2),
    ]) {
      expect(exactly(text)).toEqual([text, text])
    }
    const endless = of('1', 9_999)
    expect(exactly(endless)).toEqual(Array(2).fill(JSON.stringify(JSON.parse(endless))))
  })
})
