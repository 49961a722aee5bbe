import { expect, it } from 'vitest'
import type { Blobs } from '../../src/stores/blobs/blobs.ts'

const MIB = 1024 * 1024
const HOSTILE = [
  '',
  '.',
  '..',
  '/',
  '/etc/passwd',
  'a/',
  'a//b',
  'a/../b',
  '../a',
  './a',
  'a/.',
  'a\\..\\b',
  'a\0b',
  'a b',
  'a%2fb',
  'ä',
  'a~b',
  'a?b',
  'a#b',
  'C:x',
  'a\nb',
  'x'.repeat(300),
  Array.from({ length: 300 }, () => 'ab').join('/'),
]

/** What every adapter of the port promises. */
export function blobContract(open: () => Promise<Blobs> | Blobs): void {
  const some = text('some bytes')

  it.each([
    ['an empty one', new Uint8Array()],
    ['one byte', new Uint8Array([7])],
    ['every byte', Uint8Array.from({ length: 256 }, (_, index) => index)],
  ])('keeps %s, given whole or as a stream, with its size and content type', async (_, bytes) => {
    const blobs = await open()
    for (const [key, body] of [['small/whole', bytes] as const, ['small/stream', streamOf(bytes, 3)] as const]) {
      expect(await blobs.put(key, body, 'text/x-odd; charset=utf-8')).toEqual({
        size: bytes.byteLength,
        contentType: 'text/x-odd; charset=utf-8',
      })
      const found = await blobs.get(key)
      expect(found).toMatchObject({ size: bytes.byteLength, contentType: 'text/x-odd; charset=utf-8' })
      expect(await read(found)).toEqual(bytes)
    }
  })

  it('keeps 20 MB that arrive in odd pieces', async () => {
    const blobs = await open()
    const size = 20 * 1000 * 1000 + 1
    expect(await blobs.put('large', pattern(size, 65_537), 'application/jsonl')).toMatchObject({ size })
    const found = await blobs.get('large')
    expect(found?.size).toBe(size)
    expect(await mismatchIn(found, size)).toBe(-1)
  })

  it.each([8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 16 * MIB])('keeps %i bytes, around the size of a part', async (size) => {
    const blobs = await open()
    await blobs.put('edge', pattern(size, MIB), 'application/jsonl')
    const found = await blobs.get('edge')
    expect(found?.size).toBe(size)
    expect(await mismatchIn(found, size)).toBe(-1)
  })

  it('gives a part of a blob, with the size of the whole', async () => {
    const blobs = await open()
    const size = 9 * MIB + 5
    await blobs.put('ranged', pattern(size, 99_991), 'application/jsonl')
    for (const [from, length] of [
      [0, 1],
      [0, size],
      [size - 1, 1],
      [7, 64 * 1024],
      [65_535, 65_538],
      [8 * MIB - 3, 6],
      [MIB, 8 * MIB],
    ] as const) {
      const found = await blobs.get('ranged', { from, length })
      expect(found).toMatchObject({ size, contentType: 'application/jsonl' })
      expect(await mismatchIn(found, length, from)).toBe(-1)
    }
    expect(await blobs.get('un/known', { from: 0, length: 1 })).toBeUndefined()
  })

  it.each([
    ['a few bytes', 4],
    ['more than a part', 9 * MIB],
  ])('keeps the old one when a body fails after %s', async (_, size) => {
    const blobs = await open()
    await blobs.put('kept', some, 'text/plain')
    const failing = pattern(size, 100_000, new Error('the client left'))
    await expect(blobs.put('kept', failing, 'text/other')).rejects.toThrow('the client left')
    const found = await blobs.get('kept')
    expect(found?.contentType).toBe('text/plain')
    expect(await read(found)).toEqual(some)
    await expect(blobs.put('never', pattern(size, 100_000, new Error('gone')), 'text/other')).rejects.toThrow('gone')
    expect(await blobs.get('never')).toBeUndefined()
  })

  it('replaces content and content type together', async () => {
    const blobs = await open()
    await blobs.put('replaced', pattern(9 * MIB, MIB), 'text/a')
    await blobs.put('replaced', some, 'text/b')
    const found = await blobs.get('replaced')
    expect(found).toMatchObject({ size: some.byteLength, contentType: 'text/b' })
    expect(await read(found)).toEqual(some)
  })

  it('knows nothing of an unknown key, and removes it without complaint', async () => {
    const blobs = await open()
    expect(await blobs.get('un/known')).toBeUndefined()
    await blobs.remove('un/known')
    await blobs.put('removed', some, 'text/plain')
    await blobs.remove('removed')
    expect(await blobs.get('removed')).toBeUndefined()
  })

  it('tells keys apart that look like folders of one another', async () => {
    const blobs = await open()
    for (const key of ['a', 'a/b', 'a/b/c', 'a.blob', '...', 'A-1_x.jsonl'])
      await blobs.put(key, text(key), 'text/plain')
    for (const key of ['a', 'a/b', 'a/b/c', 'a.blob', '...', 'A-1_x.jsonl']) {
      expect(await read(await blobs.get(key))).toEqual(text(key))
    }
    await blobs.remove('a')
    expect(await read(await blobs.get('a/b'))).toEqual(text('a/b'))
    expect(await blobs.get('a')).toBeUndefined()
  })

  it.each(HOSTILE.map((key) => [JSON.stringify(key).slice(0, 40), key]))('refuses the key %s', async (_, key) => {
    const blobs = await open()
    await expect(blobs.put(key, some, 'text/plain')).rejects.toThrow('not a valid blob key')
    await expect(blobs.get(key)).rejects.toThrow('not a valid blob key')
    await expect(blobs.remove(key)).rejects.toThrow('not a valid blob key')
  })

  it('leaves one whole object after concurrent puts of one key', async () => {
    const blobs = await open()
    const sizes = [10, 9 * MIB, 200_000, 10 * MIB, 0]
    await Promise.all(sizes.map((size) => blobs.put('raced', pattern(size, 99_991), `text/${size}`)))
    const found = await blobs.get('raced')
    const size = sizes.find((candidate) => candidate === found?.size) ?? -1
    expect(found?.contentType).toBe(`text/${size}`)
    expect(await mismatchIn(found, size)).toBe(-1)
  })

  it('lets a reader stop early', async () => {
    const blobs = await open()
    await blobs.put('half', pattern(3 * MIB, MIB), 'text/plain')
    const reader = (await blobs.get('half'))?.body.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await reader?.cancel()
    await blobs.remove('half')
    expect(await blobs.get('half')).toBeUndefined()
  })
}

const text = (value: string) => new TextEncoder().encode(value)

function streamOf(bytes: Uint8Array, pieceBytes: number): ReadableStream<Uint8Array> {
  let offset = 0
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.byteLength) return controller.close()
      controller.enqueue(bytes.slice(offset, offset + pieceBytes))
      offset += pieceBytes
    },
  })
}

/** Differs at every position that a lost, doubled or swapped piece could take the place of. */
const byteAt = (position: number) => (position * 31 + (position >>> 8) * 17 + (position >>> 16) * 7) & 255

/** Bytes made on demand, so that a body larger than memory allows would show. */
function pattern(size: number, pieceBytes: number, failure?: Error): ReadableStream<Uint8Array> {
  let offset = 0
  return new ReadableStream({
    pull(controller) {
      if (offset >= size) return failure ? controller.error(failure) : controller.close()
      const piece = new Uint8Array(Math.min(pieceBytes, size - offset))
      for (let index = 0; index < piece.byteLength; index++) piece[index] = byteAt(offset + index)
      offset += piece.byteLength
      controller.enqueue(piece)
    },
  })
}

/** First position at which a body is not so many bytes of the pattern, from that byte on; -1 when it is. */
async function mismatchIn(
  found: { body: ReadableStream<Uint8Array> } | undefined,
  size: number,
  from = 0,
): Promise<number> {
  let position = from
  for await (const piece of found?.body ?? []) {
    for (const byte of piece) {
      if (byte !== byteAt(position)) return position
      position += 1
    }
  }
  return position - from === size ? -1 : position
}

async function read(found: { body: ReadableStream<Uint8Array> } | undefined): Promise<Uint8Array> {
  return new Uint8Array(await new Response(found?.body ?? 'absent').arrayBuffer())
}
