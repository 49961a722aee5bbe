import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { newAbort } from '../../src/lib/abort.ts'
import { incomingAnswer } from '../../src/transport/incoming-answer.node.ts'
import type { UpstreamResponse } from '../../src/transport/transport.ts'
import { answerOf, SCHEMES, settled, textOf, transportScene } from '../support/transport-scene.node.ts'

interface Told {
  readonly bytes: string
  readonly status?: number
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the upstream closes the connection behind the answer. */
  readonly closes?: true
  /** Whether the connection serves no second request. */
  readonly last?: true
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const LAST = '2\r\nok\r\n0\r\n\r\n'

/** Answers as upstreams may give them, and what is understood by each. */
const ANSWERS: Readonly<Record<string, Told>> = {
  'of known length': { bytes: answerOf('ok') },
  'without a body': { bytes: answerOf(''), body: '' },
  'without a reason': { bytes: 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok' },
  'of a status that nobody knows': { bytes: 'HTTP/1.1 599 ?\r\ncontent-length: 2\r\n\r\nok', status: 599 },
  'that leads elsewhere': {
    bytes: 'HTTP/1.1 307 Elsewhere\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n',
    status: 307,
    body: '',
    headers: { location: '/other' },
  },
  'with names in any case, and repeated': {
    bytes: answerOf('ok', 'X-A: 1', 'x-a:2', 'Set-Cookie: a=1', 'set-cookie: b=2'),
    headers: { 'x-a': '1, 2', 'set-cookie': 'a=1, b=2' },
  },
  'with an empty value and blanks before one': {
    bytes: answerOf('ok', 'x-empty:', 'x-blank: \t y\tz'),
    headers: { 'x-empty': '', 'x-blank': 'y\tz' },
  },
  'with letters beyond ASCII': { bytes: answerOf('ok', 'x-a: caf\xe9'), headers: { 'x-a': 'caf\xe9' } },
  'with names that objects have': {
    bytes: answerOf('ok', 'constructor: 1', 'tostring: 2'),
    headers: { constructor: '1', tostring: '2' },
  },
  'with a long head': { bytes: answerOf('ok', `x-a: ${'a'.repeat(12_000)}`), headers: { 'x-a': 'a'.repeat(12_000) } },
  'in chunks': { bytes: `${CHUNKED}1\r\no\r\n1\r\nk\r\n0\r\n\r\n` },
  'in chunks, written otherwise': {
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding:\tChunked\r\n\r\n0A\r\n0123456789\r\n00\r\n\r\n',
    body: '0123456789',
  },
  'in chunks with extensions': { bytes: `${CHUNKED}2;a=b;c="d e"\r\nok\r\n0;x\r\n\r\n` },
  'in chunks with trailers': { bytes: `${CHUNKED}2\r\nok\r\n0\r\nx-t: 1\r\nx-u: 2\r\n\r\n` },
  'in chunks that hold what looks like the end': {
    bytes: `${CHUNKED}7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n`,
    body: '\r\n0\r\n\r\n',
  },
  'behind early hints': { bytes: `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${answerOf('ok')}` },
  'behind several of them': { bytes: `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3)}${answerOf('ok')}` },
  'behind an empty line': { bytes: `\r\n${answerOf('ok')}` },
  'with no content': { bytes: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, body: '' },
  'not modified': { bytes: 'HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n', status: 304, body: '' },
  'that ends with its connection': { bytes: 'HTTP/1.1 200 OK\r\n\r\nok', closes: true, last: true },
  'that says so': { bytes: 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok', closes: true, last: true },
  'in a coding that is not known to end': {
    bytes: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, x\r\n\r\n${LAST}`,
    body: LAST,
    closes: true,
    last: true,
  },
  'that is the last of its connection': { bytes: answerOf('ok', 'connection: close'), last: true },
  'that is the last, among other options': { bytes: answerOf('ok', 'connection: x, Close'), last: true },
  'that is the last, said twice': { bytes: answerOf('ok', 'connection: keep-alive', 'connection: close'), last: true },
  'of HTTP/1.0': { bytes: 'HTTP/1.0 200 OK\r\n\r\nok', closes: true, last: true },
  'of HTTP/1.0 and known length': { bytes: 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', last: true },
  'of HTTP/1.0 that keeps its connection': {
    bytes: 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok',
  },
  'whose connection is not kept for long': { bytes: answerOf('ok', 'keep-alive: timeout=1'), last: true },
}

const rows = Object.entries(ANSWERS)

describe.each(SCHEMES)('an answer over %s', (scheme) => {
  const { upstream, send, ask } = transportScene(scheme)
  const telling = ({ bytes, closes }: Told, ...cuts: number[]) =>
    upstream(async (connection, index) => {
      await connection.request()
      if (index === 0) {
        const ends = [...cuts, bytes.length]
        await connection.send(...ends.map((end, at) => bytes.slice(ends[at - 1] ?? 0, end)))
        if (closes) connection.end()
        await connection.request()
      }
      await connection.send(answerOf('second'))
    })

  it.each(rows)('%s is understood', async (_, told) => {
    const { status = 200, body = 'ok', headers = {}, last } = told
    const far = await telling(told)
    expect(await ask(far)).toMatchObject({ status, body, headers })
    await settled()
    expect(await ask(far)).toMatchObject({ status: 200, body: 'second' })
    expect(far.connections.length).toBe(last ? 2 : 1)
  })

  // Over TLS it is read byte by byte alone: as many connections as there are bytes would take long.
  it.runIf(scheme === 'http').each(rows.filter(([, { bytes }]) => bytes.length < 1000))(
    '%s is understood, wherever it is cut',
    async (_, told) => {
      const { status = 200, body = 'ok', headers = {} } = told
      for (let at = 1; at < told.bytes.length; at++) {
        const far = await telling(told, at)
        expect(await ask(far), `cut at ${at}`).toMatchObject({ status, body, headers })
      }
    },
  )

  it.each(rows.filter(([, { bytes }]) => bytes.length < 1000))('%s is understood byte by byte', async (_, told) => {
    const { status = 200, body = 'ok' } = told
    const response = await send(await telling(told, ...Array.from(told.bytes, (_, at) => at)))
    expect(response.status).toBe(status)
    let read = ''
    for (let piece = await response.body.read(); piece; piece = await response.body.read()) read += textOf(piece)
    expect(read).toBe(body)
    expect(await response.body.read()).toBeUndefined()
  })
})

describe('the head of an answer', () => {
  it('is told when all that is ready was read, in the order in which heads came', async () => {
    const told: string[] = []
    const waiting = ['first', 'second'].map((name) => ({
      name,
      answer: incomingAnswer(
        newAbort(),
        () => told.push(`${name} told`),
        () => expect.unreachable(),
      ),
    }))
    for (const { name, answer } of waiting) {
      answer.head(200, {})
      told.push(`${name} read`)
    }
    await nextTurn()
    expect(told).toEqual(['first read', 'second read', 'first told', 'second told'])
  })

  it.each(['an abort', 'the end of its connection'])(
    'is told even if %s comes with it: the body fails',
    async (what) => {
      const [signal, why] = [newAbort<Error>(), new Error('over')]
      const response = await new Promise<UpstreamResponse>((resolve, reject) => {
        const answer = incomingAnswer(signal, resolve, reject)
        answer.head(200, { 'content-length': '2' })
        if (what === 'an abort') signal.abort(why)
        else answer.fail(why)
      })
      expect(response.status).toBe(200)
      await expect(response.body.bytes(10)).rejects.toBe(why)
    },
  )
})
