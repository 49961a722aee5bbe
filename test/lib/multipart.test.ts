import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editForm, MalformedForm, type Part, partsOf, textOfPart, writeForm } from '../../src/lib/multipart.ts'
import { readForm } from '../../src/modes/form.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const TYPE = 'multipart/form-data; boundary=b'

/** A form from its lines, as a client writes it by hand. */
const form = (...lines: string[]) => encoder.encode(lines.join('\r\n'))
const part = (disposition: string, value: string, ...headers: string[]) =>
  form('--b', `Content-Disposition: form-data${disposition}`, ...headers, '', value, '--b--', '')
const only = (bytes: Uint8Array): Part => {
  const [first, ...rest] = partsOf(bytes, TYPE)
  if (!first || rest.length > 0) throw new TypeError('not one part')
  return first
}

describe('a form', () => {
  it('is read where it stands', () => {
    const bytes = part('; name="file"; filename="a.wav"', 'RIFF\r\n-b', 'Content-Type: audio/wav')
    const found = only(bytes)
    expect(found).toMatchObject({ name: 'file', filename: 'a.wav', contentType: 'audio/wav' })
    expect(textOfPart(bytes, found)).toBe('RIFF\r\n-b')
  })

  it.each([
    ['a quote escaped by a backslash', '; name="file"; filename="a\\"b.wav"', 'a"b.wav'],
    ['a quote escaped by a percent sign', '; name="file"; filename="a%22b.wav"', 'a"b.wav'],
    ['other backslashes as they are', '; name="file"; filename="C:\\new\\t.wav"', 'C:\\new\\t.wav'],
    ['a backslash before the closing quote', '; name="file"; filename="a\\"', 'a\\'],
    ['no quotes', '; name=file; filename=a.wav', 'a.wav'],
    ['an extended name alone', '; name="file"; filename*=UTF-8\'\'gr%C3%BC%C3%9Fe.wav', 'grüße.wav'],
    ['an extended name that is none', '; name="file"; filename*=UTF-8\'\'%FF', '%FF'],
    ['the file name first', '; filename="; name=x"; name="file"', '; name=x'],
    ['a line separator of Unicode', '; name="file"; filename="a\u2028content-type: b"', 'a\u2028content-type: b'],
  ])('may have %s', (_, disposition, filename) => {
    const found = only(part(disposition, 'x'))
    expect(found).toMatchObject({ name: 'file', filename, contentType: 'application/octet-stream' })
  })

  it('does not take a name for a file, nor the next header for a media type', () => {
    expect(only(part('; name="a; filename=b"', 'x')).filename).toBeUndefined()
    expect(only(part('; name="a"', 'x', 'Content-Type:', 'X-Other: text/html')).contentType).toBe(
      'application/octet-stream',
    )
  })

  it('may have space behind its boundary, words before it, and parts without a value', () => {
    const bytes = form('words', '--b  ', 'Content-Disposition: form-data; name="a"', '', '', '--b--')
    expect(textOfPart(bytes, only(bytes))).toBe('')
    expect(partsOf(encoder.encode('--b--\r\n'), TYPE)).toEqual([])
  })

  it.each([
    ['no boundary in its type', 'x', 'multipart/form-data'],
    ['another type', 'x', 'application/json; boundary=b'],
    ['no boundary in its body', 'x', TYPE],
    ['no end', '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx', TYPE],
    ['no end of its headers', '--b\r\nContent-Disposition: form-data; name="a"\r\n--b--', TYPE],
    ['a part without a name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--', TYPE],
    ['a part without headers', '--b\r\n\r\nx\r\n--b--', TYPE],
    ['endless headers', `--b\r\nX: ${'x'.repeat(20_000)}\r\n\r\nx\r\n--b--`, TYPE],
    ['endless parts', `--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n`.repeat(1001), TYPE],
  ])('with %s is malformed', (_, text, type) => {
    expect(() => partsOf(encoder.encode(text), type)).toThrow(MalformedForm)
  })
})

describe('a form as an object', () => {
  it('has lists of what repeats and of names that say so', () => {
    const { body, contentType } = writeForm([
      ['one', '1'],
      ['many[]', 'a'],
      ['twice', 'x'],
      ['twice', 'y'],
      ['twice', 'z'],
      ['__proto__', 'p'],
    ])
    const read = readForm(body, contentType)
    expect(Object.entries(read)).toEqual([
      ['one', '1'],
      ['many', ['a']],
      ['twice', ['x', 'y', 'z']],
      ['__proto__', 'p'],
    ])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  })
})

/** What a form can hold unambiguously: `%22` in a name is how a quote is written. */
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => !/%(22|0d|0a)|\\"/i.test(text))
const troubling = fc.constantFrom('"', '\\', '\r\n', '--b', ';', ' name="x"', '\uFEFF', '\u2028', '🙂', 'constructor')
const fieldName = fc.oneof(
  name,
  fc.constantFrom('constructor', 'toString', '__proto__', 'model', 'a"b', 'a; filename=b'),
)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(troubling).map((list) => list.join('')),
)
const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  text.map((value) => encoder.encode(value)),
)
const file = fc.record({
  filename: name,
  contentType: fc.constantFrom('audio/wav', 'text/plain; charset=utf-8'),
  bytes: content,
})
const fields = fc.array(fc.tuple(fieldName, fc.oneof(text, file)), { maxLength: 8 })

type Fields = [string, string | { filename: string; contentType: string; bytes: Uint8Array }][]

const read = (bytes: Uint8Array, contentType: string): Fields =>
  partsOf(bytes, contentType).map((part) => [
    part.name,
    part.filename === undefined
      ? textOfPart(bytes, part)
      : { filename: part.filename, contentType: part.contentType, bytes: bytes.slice(part.start, part.end) },
  ])

describe('any form', () => {
  it('that we write is read back', () => {
    fc.assert(
      fc.property(fields, (wanted) => {
        const { body, contentType } = writeForm(wanted)
        expect(read(body, contentType)).toEqual(wanted)
      }),
      { numRuns: 300 },
    )
  })

  it('that the platform writes is read back', async () => {
    await fc.assert(
      fc.asyncProperty(fields, async (wanted) => {
        const data = new FormData()
        for (const [key, value] of wanted) {
          if (typeof value === 'string') data.append(key, value)
          else {
            const blob = new Blob([value.bytes as Uint8Array<ArrayBuffer>], { type: value.contentType })
            data.append(key, blob, value.filename)
          }
        }
        const request = new Response(data)
        const bytes = new Uint8Array(await request.arrayBuffer())
        const lines = (value: string) => value.replace(/\r\n|\r|\n/g, '\r\n')
        const normal = wanted.map(([key, value]) => [lines(key), typeof value === 'string' ? lines(value) : value])
        expect(read(bytes, request.headers.get('content-type') ?? '')).toEqual(normal)
      }),
      { numRuns: 200 },
    )
  })

  it('is changed where it should be and nowhere else', () => {
    fc.assert(
      fc.property(fields, text, (wanted, model) => {
        const { body, contentType } = writeForm(wanted)
        const edited = editForm(body, partsOf(body, contentType), { model })
        const expected = wanted.map(([key, value]) => [
          key,
          key === 'model' && typeof value === 'string' ? model : value,
        ])
        expect(read(edited, contentType)).toEqual(expected)
        const unchanged = editForm(body, partsOf(body, contentType), { other: model })
        if (!wanted.some(([key]) => key === 'other')) expect(decoder.decode(unchanged)).toBe(decoder.decode(body))
      }),
      { numRuns: 300 },
    )
  })

  it('of random bytes is a form or malformed, never anything else', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '--b',
        '--b--',
        '\r\n',
        '\r\n\r\n',
        'Content-Disposition: form-data; name="',
        '"',
        ';',
        '\r',
        '=',
      ),
      fc.string({ unit: 'binary', maxLength: 10 }),
    )
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.array(piece, { maxLength: 30 }).map((pieces) => encoder.encode(pieces.join(''))),
    )
    const type = fc.oneof(
      fc.constant(TYPE),
      fc.string({ unit: 'binary' }),
      fc.constant('multipart/form-data; boundary='),
    )
    fc.assert(
      fc.property(bytes, type, (body, contentType) => {
        try {
          for (const { start, end } of partsOf(body, contentType)) {
            expect(start).toBeLessThanOrEqual(end)
            expect(end).toBeLessThanOrEqual(body.byteLength)
          }
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedForm)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
