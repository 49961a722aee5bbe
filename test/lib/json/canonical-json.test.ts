import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/lib/json/canonical-json.ts'

const NONE: ReadonlySet<string> = new Set()
const form = (text: string, ...leftOut: string[]) => canonicalJson(text, new Set(leftOut))

/** The same value, with its members in another order and other spellings. */
function rewritten(value: unknown, space: string): string {
  if (Array.isArray(value)) return `[${space}${value.map((one) => rewritten(one, space)).join(`${space},`)}${space}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).reverse()
    return `{${space}${members.map(([name, one]) => `${escaped(name)}${space}:${rewritten(one, space)}`).join(`,${space}`)}}`
  }
  return typeof value === 'string' ? escaped(value) : JSON.stringify(value)
}
const escaped = (text: string) =>
  `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`

describe('canonicalJson', () => {
  it('is one text for all texts of the same value, and for no others', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 })
    fc.assert(
      fc.property(object, object, fc.constantFrom('', ' ', '\n\t\r '), (one, other, space) => {
        const text = canonicalJson(JSON.stringify(one), NONE)
        expect(text).toBeDefined()
        expect(canonicalJson(rewritten(JSON.parse(JSON.stringify(one)), space), NONE)).toBe(text)
        expect(JSON.parse(text as string)).toEqual(JSON.parse(JSON.stringify(one)))
        const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
        expect(canonicalJson(JSON.stringify(other), NONE) === text).toBe(same)
      }),
      { numRuns: 500 },
    )
  })

  it('writes numbers in one way, as far as a double is exact', () => {
    expect(form('{"a":1.0,"b":0.50,"c":-0}')).toBe(form('{"a":1,"b":0.5,"c":0}'))
    for (const [one, other] of [
      ['12345678901234567890', '12345678901234567891'],
      ['0.12345678901234567890', '0.12345678901234567891'],
      ['1e400', 'null'],
      ['1', '"1"'],
    ]) {
      expect(form(`{"a":${one}}`)).not.toBe(form(`{"a":${other}}`))
    }
  })

  it('keeps what parsers read differently', () => {
    expect(form('{"a":[{"b":1,"b":2}]}')).not.toBe(form('{"a":[{"b":2}]}'))
    expect(form('{"a":1,"a":2}')).not.toBe(form('{"a":2}'))
    expect(form('{"__proto__":{"a":1}}')).toBe('{"__proto__":{"a":1}}')
  })

  it('leaves members out by their path, and an object of nothing else', () => {
    const text = '{"model":"m","metadata":{"cache":"force","tags":["a"]},"x":{"model":1,"metadata":{"cache":1}}}'
    expect(form(text, 'model', 'metadata.cache')).toBe(
      '{"metadata":{"tags":["a"]},"x":{"metadata":{"cache":1},"model":1}}',
    )
    expect(form('{"metadata":{"cache":1},"a":1}', 'metadata.cache')).toBe('{"a":1}')
    expect(form('{"metadata":{},"a":1}', 'metadata.cache')).toBe('{"a":1,"metadata":{}}')
    expect(form('{"m\\u006fdel":"m"}', 'model')).toBe('')
  })

  it.each([
    '',
    '[]',
    '1',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1 "b":2}',
    '{a:1}',
    '{"a":tru}',
    '{"a":01}',
    '{"a":"\\x"}',
    '{"a":1}{}',
    '{"a":[1,]}',
    '{"a":"',
  ])('has no form of %s', (text) => {
    expect(form(text)).toBeUndefined()
  })
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, one]) => [`member ${name}`, sorted(one)])
}
