import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinBytes } from '../../../src/lib/bytes/bytes.ts'
import { editJson } from '../../../src/lib/json/edit-json.ts'
import { busyMs } from '../../support/busy-ms.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function edit(text: string, changes: Record<string, unknown>): string {
  return decoder.decode(joinBytes(editJson(encoder.encode(text), JSON.parse(text), changes)))
}

describe('editJson', () => {
  it('replaces one value and keeps every other byte, number spelling and space', () => {
    const text = '{ "seed" : 12345678901234567890,\n "model":"a", "x": [1.0, {"model":"inner"}] , "é":"\\u00e9" }'
    expect(edit(text, { model: 'b' })).toBe(text.replace('"model":"a"', '"model":"b"'))
  })

  it('adds, also to an empty object', () => {
    expect(edit('{}', { a: 1 })).toBe('{"a":1}')
    expect(edit('{ "b": 2 }', { a: 1 })).toBe('{ "a":1,"b": 2 }')
  })

  it('removes first, middle, last and all', () => {
    const text = '{"a":1, "b":[2,"]"], "c":{"}":3}}'
    expect(edit(text, { a: undefined })).toBe('{"b":[2,"]"], "c":{"}":3}}')
    expect(edit(text, { b: undefined })).toBe('{"a":1,"c":{"}":3}}')
    expect(edit(text, { b: undefined, c: undefined })).toBe('{"a":1}')
    expect(edit(text, { a: undefined, b: undefined, c: undefined })).toBe('{}')
  })

  it('takes names of Object’s own for what they are', () => {
    const text = '{"valueOf":[1],"constructor":2,"__proto__":{"x":1},"model":"a"}'
    expect(edit(text, { model: 'b' })).toBe(text.replace('"a"', '"b"'))
  })

  it('takes no more time for each member where there are many', () => {
    const members = Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`)
    const text = `{"model":"a",${members.join(',')}}`
    let edited = ''
    const busy = busyMs(() => {
      edited = edit(text, { model: 'b', k7: undefined, added: 1 })
    })
    expect(busy).toBeLessThan(5000)
    expect(edited).toBe(text.replace('{"model":"a"', '{"added":1,"model":"b"').replace('"k7":1,', ''))
  })

  it('ends up right with repeated and escaped keys', () => {
    expect(JSON.parse(edit('{"model":"a","model":"b"}', { model: 'c' }))).toEqual({ model: 'c' })
    expect(JSON.parse(edit('{"mod\\u0065l":"a"}', { model: 'c' }))).toEqual({ model: 'c' })
  })

  it('hands the same bytes on where nothing is changed, and of repeated members the one that was read', () => {
    const bytes = encoder.encode('{ "model":"a","x":1 }')
    expect(editJson(bytes, { model: 'a', x: 1 }, {})).toEqual([bytes])
    expect(editJson(bytes, { model: 'a', x: 1 }, {})[0]).toBe(bytes)
    expect(edit('{"model":"dear","x":1,"model":"a"}', {})).toBe('{"model":"a","x":1}')
    expect(edit('{"model":"dear","x":1,"mod\\u0065l":"a"}', {})).toBe('{"model":"a","x":1}')
  })

  it('agrees with parse, assign, print on any object', () => {
    const key = fc.oneof(fc.constantFrom('model', 'stream', 'metadata'), fc.string())
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.jsonValue(), { noNullPrototype: true }),
        fc.dictionary(
          fc.constantFrom('model', 'stream', 'metadata', 'new'),
          fc.option(fc.jsonValue(), { nil: undefined }),
        ),
        fc.nat(4),
        (value, changes, indent) => {
          const text = JSON.stringify(value, null, indent)
          const expected = JSON.parse(JSON.stringify({ ...JSON.parse(text), ...changes }))
          expect(JSON.parse(edit(text, changes))).toEqual(expected)
        },
      ),
      { numRuns: 500 },
    )
  })
})
