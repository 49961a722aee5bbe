import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinBytes } from '../../../src/lib/bytes/bytes.ts'
import { GatewayError } from '../../../src/lib/errors.ts'
import { editJson } from '../../../src/lib/json/edit-json.ts'
import { outline, parseLazily } from '../../../src/lib/json/lazy-json.ts'
import { busyMs } from '../../support/busy-ms.ts'

const long = 'Long "words", a\\b, 🙂 and {braces}. '.repeat(6000)
const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('parseLazily', () => {
  it('gives what JSON.parse gives, whatever stands beside the long member', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), fc.nat(3), (rest, indent) => {
        const text = JSON.stringify({ ...rest, messages: [{ role: 'user', content: long }] }, null, indent)
        expect(parseLazily(bytesOf(text))).toEqual(JSON.parse(text))
      }),
      { numRuns: 60 },
    )
  })

  it('shows the first item of a list that was not built', () => {
    const text = JSON.stringify({
      model: 'm',
      messages: [{ role: 'user' }, { role: 'user', content: long }],
      input: [],
    })
    expect(outline(parseLazily(bytesOf(text)))).toEqual({ model: 'm', messages: [{ role: 'user' }], input: [] })
  })

  it('shows an empty list as one, however much space it holds', () => {
    expect(outline(parseLazily(bytesOf(`{"tools":[${' '.repeat(140_000)}]}`)))).toEqual({ tools: [] })
  })

  it('looks only so deep into lists in lists', () => {
    const levels = 2000
    const text = `{"messages":${'[{"a":'.repeat(levels)}"${'x'.repeat(4_000_000)}"${'}]'.repeat(levels)}}`
    const busy = busyMs(() => {
      expect(outline(parseLazily(bytesOf(text)))).toMatchObject({ messages: [{ a: [{ a: [{}] }] }] })
    })
    expect(busy).toBeLessThan(2000)
  })

  it.each([
    ['repeated keys', `{"a":1,"a":2,"x":${JSON.stringify(long)}}`],
    ['escaped keys', `{"\\u0061":1,"x":${JSON.stringify(long)}}`],
    ['__proto__', `{"__proto__":{"polluted":1},"x":${JSON.stringify(long)}}`],
    ['a list', JSON.stringify([long])],
  ])('reads %s as JSON.parse does', (_, text) => {
    expect(JSON.stringify(parseLazily(bytesOf(text)))).toBe(JSON.stringify(JSON.parse(text)))
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it.each([
    `{"x":${JSON.stringify(long)}`,
    `{"x":${JSON.stringify(long)}} trailing`,
    `{"x":${JSON.stringify(long)},}`,
    `{"x":${JSON.stringify(long)} "y":1}`,
    `{x:${JSON.stringify(long)}}`,
    `{"y":nonsense,"x":${JSON.stringify(long)}}`,
  ])('refuses what is no JSON at once (%#)', (text) => {
    expect(() => parseLazily(bytesOf(text))).toThrow(SyntaxError)
  })

  it.each([
    ['a byte that is not UTF-8', [0xff]],
    ['half a character', [0xf0, 0x9f, 0x99]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('refuses %s inside a long member at once', (_, wrong) => {
    const [before, after] = JSON.stringify({ model: 'm', messages: [`${long}#${long}`] }).split('#') as [string, string]
    const bytes = joinBytes([bytesOf(before), new Uint8Array(wrong), bytesOf(after)])
    expect(() => parseLazily(bytes)).toThrow(TypeError)
  })

  it('takes a byte order mark where JSON may have one, and nowhere else', () => {
    const text = JSON.stringify({ model: 'm', '\ufeffkey': '\ufeff', messages: [long] })
    expect(parseLazily(bytesOf(`\ufeff${text}`))).toEqual(JSON.parse(text))
    expect(parseLazily(bytesOf(text))).toEqual(JSON.parse(text))
    expect(() => parseLazily(bytesOf(text.replace('"m"', '\ufeff"m"')))).toThrow(SyntaxError)
  })

  it('finds the end of a string however many quotes and backslashes it ends in', () => {
    const ending = fc.array(fc.constantFrom('"', '\\', 'a', '🙂', '{', ']', ' '.repeat(47), ' '.repeat(70)))
    fc.assert(
      fc.property(
        fc.array(
          ending.map((parts) => parts.join('')),
          { minLength: 1 },
        ),
        ending,
        (texts, key) => {
          const text = JSON.stringify({ long: [long, ...texts], [`_${key.join('')}`]: texts, last: texts.join('') })
          expect(parseLazily(bytesOf(text))).toEqual(JSON.parse(text))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('refuses a mistake inside a long member when that is read', () => {
    const text = `{"model":"m","messages":[${JSON.stringify(long)},nonsense]}`
    const value = parseLazily(bytesOf(text)) as { messages: unknown }
    expect(() => value.messages).toThrow(GatewayError)
  })
})

describe('editJson of what was read lazily', () => {
  it.each([
    ['ASCII', long.replace(/🙂/g, ':)')],
    ['other', long],
  ])('keeps every byte but what changes (%s text)', (_, content) => {
    const text = `{"model":"a", "messages":[${JSON.stringify(content)}] , "metadata":{},"z":1.0}`
    const bytes = bytesOf(text)
    const edited = editJson(bytes, parseLazily(bytes) as Record<string, unknown>, { model: 'b' })
    expect(textOf(joinBytes(edited))).toBe(text.replace('"a"', '"b"'))
    // The long member is the client's own memory, not a copy of it.
    expect(edited.some((piece) => piece.buffer === bytes.buffer && piece.byteLength > content.length)).toBe(true)
  })
})
