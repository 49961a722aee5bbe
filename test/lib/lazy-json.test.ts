import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editJson } from '../../src/lib/edit-json.ts'
import { GatewayError } from '../../src/lib/errors.ts'
import { outline, parseLazily } from '../../src/lib/lazy-json.ts'

const long = 'Long "words", a\\b, 🙂 and {braces}. '.repeat(6000)
const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('parseLazily', () => {
  it('gives what JSON.parse gives, whatever stands beside the long member', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), fc.nat(3), (rest, indent) => {
        const text = JSON.stringify({ ...rest, messages: [{ role: 'user', content: long }] }, null, indent)
        expect(parseLazily(text)).toEqual(JSON.parse(text))
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
    expect(outline(parseLazily(text))).toEqual({ model: 'm', messages: [{ role: 'user' }], input: [] })
  })

  it.each([
    ['repeated keys', `{"a":1,"a":2,"x":${JSON.stringify(long)}}`],
    ['escaped keys', `{"\\u0061":1,"x":${JSON.stringify(long)}}`],
    ['__proto__', `{"__proto__":{"polluted":1},"x":${JSON.stringify(long)}}`],
    ['a list', JSON.stringify([long])],
  ])('reads %s as JSON.parse does', (_, text) => {
    expect(JSON.stringify(parseLazily(text))).toBe(JSON.stringify(JSON.parse(text)))
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
    expect(() => parseLazily(text)).toThrow(SyntaxError)
  })

  it('refuses a mistake inside a long member when that is read', () => {
    const value = parseLazily(`{"model":"m","messages":[${JSON.stringify(long)},nonsense]}`) as { messages: unknown }
    expect(() => value.messages).toThrow(GatewayError)
  })
})

describe('editJson of what was read lazily', () => {
  it.each([
    ['ASCII', long.replace(/🙂/g, ':)')],
    ['other', long],
  ])('keeps every byte but what changes (%s text)', (_, content) => {
    const text = `{"model":"a", "messages":[${JSON.stringify(content)}] , "metadata":{},"z":1.0}`
    const edited = editJson(bytesOf(text), parseLazily(text) as Record<string, unknown>, { model: 'b' })
    expect(textOf(edited)).toBe(text.replace('"a"', '"b"'))
  })
})
