import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinBytes } from '../../../src/lib/bytes/bytes.ts'
import type { Pieces } from '../../../src/lib/bytes/pieces.ts'
import { arrivingForm } from '../../../src/lib/forms/arriving-form.ts'
import { editedForm } from '../../../src/lib/forms/form-parts.ts'
import { formScanner, MalformedForm, type Part } from '../../../src/lib/forms/multipart.ts'
import { readForm } from '../../../src/modes/form.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const TYPE = 'multipart/form-data; boundary=b'

/** A form from its lines, as a client writes it by hand. */
const form = (...lines: string[]) => encoder.encode(lines.join('\r\n'))
const part = (disposition: string, value: string, ...headers: string[]) =>
  form('--b', `Content-Disposition: form-data${disposition}`, ...headers, '', value, '--b--', '')

/** The whole body, cut where it is said, or not at all. */
function partsOf(bytes: Uint8Array, contentType: string, cuts: readonly number[] = []): readonly Part[] {
  const scanner = formScanner(contentType)
  let from = 0
  for (const cut of [...cuts, bytes.byteLength]) {
    scanner.push(bytes.slice(from, cut))
    from = cut
    expect(scanner.known).toBeLessThanOrEqual(from)
  }
  scanner.end()
  return scanner.parts
}

/** A form whose bytes come in pieces of that size. */
function arriving(bytes: Uint8Array, contentType: string, size = bytes.byteLength || 1) {
  let at = 0
  const read = async () => {
    const piece = bytes.slice(at, at + size)
    at += size
    return piece.byteLength > 0 ? piece : undefined
  }
  const source = { read, close: () => {}, length: bytes.byteLength }
  return arrivingForm(source, { contentType, check: () => {} })
}

async function allOf(pieces: Pieces): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for (let piece = await pieces.read(); piece; piece = await pieces.read()) all.push(piece)
  const bytes = joinBytes(all)
  if (pieces.length !== undefined) expect(bytes.byteLength).toBe(pieces.length)
  return bytes
}

/** What the platform writes is not written as we would like to test it: quotes and line ends stay. */
function writeForm(fields: Fields): { readonly body: Uint8Array; readonly contentType: string } {
  const quoted = (text: string) => text.replace(/[\r\n"]/g, encodeURIComponent)
  const boundary = `random-${Math.random()}`
  const pieces = fields.flatMap(([name, value]) => {
    const file = typeof value === 'string' ? undefined : value
    const more = file ? `; filename="${quoted(file.filename)}"\r\nContent-Type: ${file.contentType}` : ''
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${more}\r\n\r\n`
    return [encoder.encode(head), typeof value === 'string' ? encoder.encode(value) : value.bytes, form('', '')]
  })
  const body = joinBytes([...pieces, encoder.encode(`--${boundary}--\r\n`)])
  return { body, contentType: `multipart/form-data; boundary=${boundary}` }
}

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
    expect(decoder.decode(bytes.subarray(found.start, found.end))).toBe('RIFF\r\n-b')
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
    ['quotes that nobody escaped', '; name="file"; filename="my "best" one.wav"', '"my'],
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
    expect(only(bytes).text).toBe('')
    expect(partsOf(encoder.encode('--b--\r\n'), TYPE)).toEqual([])
  })

  it.each([
    ['two dispositions', '; name="x"\r\nContent-Disposition: form-data; name="model"'],
    ['two dispositions, one of them oddly written', '; name="x"\r\nContent-Disposition : form-data; name="model"'],
    ['two names', '; name="x"; name="model"'],
    ['two names, one of them oddly written', '; name="x"; name ="model"'],
    ['an extended name', '; name="x"; name*=UTF-8\'\'model'],
    ['a name on another line', '; name="x";\r\n name="model"'],
    ['a name behind a bare line feed', '; x=y\nContent-Disposition: form-data; name="model"'],
    ['words behind its name', '; name="model"x'],
    ['a name behind an escaped quote', '; name="x"; filename="a\\"; name=model; y="'],
  ])('with %s, which others may read otherwise, is malformed', (_, disposition) => {
    expect(() => only(part(disposition, 'expensive'))).toThrow(MalformedForm)
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
    [
      'a longer word in the place of its boundary',
      '--bc\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b--',
      TYPE,
    ],
    [
      'lines before its boundary',
      'x\n--b\r\n\r\n\r\n--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b--',
      TYPE,
    ],
    ['endless fields', `--b\r\nContent-Disposition: form-data; name=a\r\n\r\n${'x'.repeat(17_000_000)}\r\n--b--`, TYPE],
    ['endless parts', `--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n`.repeat(1001), TYPE],
  ])('with %s is malformed', (_, text, type) => {
    expect(() => partsOf(encoder.encode(text), type)).toThrow(MalformedForm)
  })
})

describe('a form as an object', () => {
  it('has lists of what repeats and of names that say so', async () => {
    const { body, contentType } = writeForm([
      ['one', '1'],
      ['many[]', 'a'],
      ['twice', 'x'],
      ['twice', 'y'],
      ['twice', 'z'],
      ['__proto__', 'p'],
    ])
    const form = arriving(body, contentType)
    await form.whole()
    const read = readForm(form)
    expect(Object.entries(read)).toEqual([
      ['one', '1'],
      ['many', ['a']],
      ['twice', ['x', 'y', 'z']],
      ['__proto__', 'p'],
    ])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  })

  it('has its metadata as an object, whichever way a client writes that', async () => {
    const metadataOf = async (...fields: [string, string][]) => {
      const { body, contentType } = writeForm(fields)
      const form = arriving(body, contentType)
      await form.whole()
      return readForm(form)
    }
    const tags = { metadata: { tags: ['eu', 'gold'] } }
    expect(await metadataOf(['metadata', '{"tags":["eu","gold"]}'])).toEqual(tags)
    expect(await metadataOf(['metadata[tags][]', 'eu'], ['metadata[tags][]', 'gold'])).toEqual(tags)
    expect(await metadataOf(['metadata[tags][0]', 'eu'], ['metadata[tags][1]', 'gold'])).toEqual(tags)
    expect(await metadataOf(['metadata[tags]', 'eu'], ['metadata[user]', 'ann'])).toEqual({
      metadata: { tags: ['eu'], user: 'ann' },
    })
    expect(await metadataOf(['metadata', 'none'])).toEqual({ metadata: 'none' })
    await expect(metadataOf(['metadata', `{"a":${'['.repeat(600)}`])).rejects.toMatchObject({
      code: 'nested_too_deeply',
    })
    expect(await metadataOf(['metadata[__proto__]', 'x'])).toEqual({ metadata: { ['__proto__']: 'x' } })
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

const read = (bytes: Uint8Array, contentType: string, cuts: readonly number[] = []): Fields =>
  partsOf(bytes, contentType, cuts).map((part) => [
    part.name,
    part.filename === undefined
      ? (part.text ?? 'has not come')
      : { filename: part.filename, contentType: part.contentType, bytes: bytes.slice(part.start, part.end) },
  ])

describe('any form', () => {
  it('is read as it was written, wherever it is cut', () => {
    fc.assert(
      fc.property(fields, fc.array(fc.nat(2000), { maxLength: 20 }), (wanted, cuts) => {
        const { body, contentType } = writeForm(wanted)
        const sorted = cuts.map((cut) => Math.min(cut, body.byteLength)).sort((a, b) => a - b)
        expect(read(body, contentType, sorted)).toEqual(wanted)
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

  it('is changed where it should be and nowhere else, however it comes', async () => {
    await fc.assert(
      fc.asyncProperty(fields, text, fc.integer({ min: 1, max: 99 }), async (wanted, model, size) => {
        const { body, contentType } = writeForm(wanted)
        const whole = arriving(body, contentType, size)
        await whole.whole()
        const edited = await allOf(editedForm(whole, { model }))
        const expected = wanted.map(([key, value]) => [
          key,
          key === 'model' && typeof value === 'string' ? model : value,
        ])
        expect(read(edited, contentType)).toEqual(expected)
        const more = await allOf(editedForm(whole, { model }, () => [['more', model]]))
        if (wanted.length > 0) expect(read(more, contentType)).toEqual([...expected, ['more', model]])
        const without = await allOf(editedForm(whole, { model: null }))
        const others = wanted.filter(([key, value]) => key !== 'model' || typeof value !== 'string')
        expect(read(without, contentType)).toEqual(others)
        if (wanted.some(([key]) => key === 'other')) return
        const unchanged = await allOf(editedForm(arriving(body, contentType, size), { other: model }))
        expect(decoder.decode(unchanged)).toBe(decoder.decode(body))
      }),
      { numRuns: 200 },
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
          for (const { start, end = Number.NaN } of partsOf(body, contentType)) {
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
