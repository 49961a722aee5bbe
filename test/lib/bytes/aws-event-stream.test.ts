import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { awsEventSplitter } from '../../../src/lib/bytes/aws-event-stream.ts'
import { joinBytes } from '../../../src/lib/bytes/bytes.ts'
import { awsEvent, awsMessage } from '../../support/aws-events.ts'
import { busyMs } from '../../support/busy-ms.ts'

const decoder = new TextDecoder()
const read = (pieces: readonly Uint8Array[]) => {
  const push = awsEventSplitter()
  return pieces
    .flatMap((piece) => push(piece))
    .map((event) => (typeof event === 'string' ? event : { ...event.headers, payload: decoder.decode(event.payload) }))
}

const stream = joinBytes([
  awsEvent('messageStart', { role: 'assistant' }),
  awsEvent('contentBlockDelta', { delta: { text: 'Grüße 🙂' } }),
  awsMessage({}, ''),
])
const expected = [
  {
    ':event-type': 'messageStart',
    ':content-type': 'application/json',
    ':message-type': 'event',
    payload: '{"role":"assistant"}',
  },
  {
    ':event-type': 'contentBlockDelta',
    ':content-type': 'application/json',
    ':message-type': 'event',
    payload: '{"delta":{"text":"Grüße 🙂"}}',
  },
  { payload: '' },
]

/** A message of the headers' very bytes, with checksums of another's making. */
function message(headers: readonly number[], payload = 'x'): Uint8Array {
  const body = new TextEncoder().encode(payload)
  const bytes = new Uint8Array(16 + headers.length + body.byteLength)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, bytes.byteLength)
  view.setUint32(4, headers.length)
  view.setUint32(8, crc32(bytes.subarray(0, 8)))
  bytes.set(headers, 12)
  bytes.set(body, 12 + headers.length)
  view.setUint32(bytes.byteLength - 4, crc32(bytes.subarray(0, bytes.byteLength - 4)))
  return bytes
}
const named = (letter: string, ...value: number[]) => [1, letter.charCodeAt(0), ...value]

describe('the event stream of AWS', () => {
  it('is the same wherever it is cut', () => {
    expect(read([stream])).toEqual(expected)
    for (let at = 0; at <= stream.byteLength; at++) {
      expect(read([stream.subarray(0, at), stream.subarray(at)]), `cut at ${at}`).toEqual(expected)
    }
    expect(read(Array.from(stream, (_, at) => stream.subarray(at, at + 1)))).toEqual(expected)
  })

  it('is read with checksums of another making, past headers of every type', () => {
    const headers = [
      ...named('t', 0),
      ...named('f', 1),
      ...named('b', 2, 9),
      ...named('s', 3, 0, 9),
      ...named('i', 4, 0, 0, 0, 9),
      ...named('l', 5, ...Array(8).fill(0)),
      ...named('y', 6, 0, 2, 255, 254),
      ...named('d', 8, ...Array(8).fill(0)),
      ...named('u', 9, ...Array(16).fill(7)),
      ...named('n', 7, 0, 2, 111, 107),
    ]
    expect(read([message(headers)])).toEqual([{ n: 'ok', payload: 'x' }])
  })

  it.each([
    ['a type that there is not', named('x', 10, 0)],
    ['a name behind the end', [9, 120]],
    ['a value behind the end', named('x', 7, 0, 9, 65)],
    ['a length behind the end', named('x', 7, 0)],
    ['no type', named('x')],
  ])('leaves out a message whose headers have %s, and goes on', (_, headers) => {
    expect(read([message(headers), message([])])).toEqual(['damaged', { payload: 'x' }])
  })

  it('takes no more time for each piece of a long message', () => {
    const whole = awsEvent('contentBlockDelta', { text: 'x'.repeat(15_000_000) })
    const push = awsEventSplitter()
    const found: unknown[] = []
    const busy = busyMs(() => {
      for (let at = 0; at < whole.byteLength; at += 1024) found.push(...push(whole.subarray(at, at + 1024)))
    })
    expect(busy).toBeLessThan(2000)
    expect(found).toHaveLength(1)
  })

  it('leaves out a message that was changed on the way, and goes on', () => {
    const first = awsEvent('messageStart', {})
    for (let at = 12; at < first.byteLength; at++) {
      const changed = first.slice()
      changed[at] = (changed[at] as number) ^ 1
      expect(read([changed, message([])]), `changed at ${at}`).toEqual(['damaged', { payload: 'x' }])
    }
  })

  it('ends where a length cannot be trusted', () => {
    const first = awsEvent('messageStart', {})
    for (let at = 0; at < 12; at++) {
      const changed = first.slice()
      changed[at] = (changed[at] as number) ^ 1
      expect(read([message([]), changed, message([])]), `changed at ${at}`).toEqual([{ payload: 'x' }, 'lost'])
    }
  })

  it('does not wait for a message of a size that nobody sends', () => {
    const bytes = new Uint8Array(12)
    const view = new DataView(bytes.buffer)
    view.setUint32(0, 0x7fffffff)
    view.setUint32(8, crc32(bytes.subarray(0, 8)))
    expect(read([bytes])).toEqual(['lost'])
  })
})
