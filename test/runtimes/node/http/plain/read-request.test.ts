import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { readRequest } from '../../../../../src/runtimes/node/http/plain/read-request.node.ts'

const socket = new Socket()
const read = (text: string) => readRequest(Buffer.from(text, 'latin1'), socket)

const HEAD = 'POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\n'
const PLAIN = `${HEAD}Authorization: Bearer sk-1\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}`

describe('a plain request', () => {
  it('is understood, and what comes behind it is left', () => {
    const request = read(`${PLAIN}POST`)
    if (typeof request === 'string') throw new Error(request)
    const { incoming, bytes } = request
    expect(bytes).toBe(PLAIN.length)
    expect(incoming).toMatchObject({ method: 'POST', url: '/v1/chat/completions', httpVersion: '1.1', complete: true })
    expect(incoming.headers).toEqual({
      host: 'gateway',
      authorization: 'Bearer sk-1',
      'content-type': 'application/json',
      'content-length': '7',
    })
    expect(String(incoming.read())).toBe('{"a":1}')
    expect(incoming.read()).toBeNull()
  })

  it('is waited for from its first byte on', () => {
    for (let end = 0; end < PLAIN.length; end++) expect(read(PLAIN.slice(0, end)), `cut at ${end}`).toBe('incomplete')
  })

  it('may have no body, and say that its connection is kept', () => {
    const text = `${HEAD}Connection: Keep-Alive\r\nContent-Length: 0\r\n\r\n`
    expect(read(text)).toMatchObject({ bytes: text.length })
  })
})

describe('a request for Node', () => {
  const LENGTH = 'Content-Length: 2\r\n'
  it.each([
    ['of another method', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['of a method in small letters', `post / HTTP/1.1\r\nHost: a\r\n${LENGTH}\r\nok`],
    ['of HTTP/1.0', `POST / HTTP/1.0\r\nHost: a\r\n${LENGTH}\r\nok`],
    ['of no protocol', 'hello'],
    ['behind an empty line', `\r\n${PLAIN}`],
    ['with two blanks', `POST  / HTTP/1.1\r\nHost: a\r\n${LENGTH}\r\nok`],
    ['of a whole address', `POST http://a/ HTTP/1.1\r\nHost: a\r\n${LENGTH}\r\nok`],
    ['with odd letters in its target', `POST /"<> HTTP/1.1\r\nHost: a\r\n${LENGTH}\r\nok`],
    ['without a host', `POST / HTTP/1.1\r\n${LENGTH}\r\nok`],
    ['without a length', `${HEAD}\r\n`],
    ['with an odd length', `${HEAD}Content-Length: +2\r\n\r\nok`],
    ['with two lengths', `${HEAD}${LENGTH}${LENGTH}\r\nok`],
    ['with two credentials', `${HEAD}Authorization: a\r\nAuthorization: b\r\n${LENGTH}\r\nok`],
    ['in chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
    ['in chunks of a length', `${HEAD}Transfer-Encoding: chunked\r\n${LENGTH}\r\nok`],
    ['that waits for leave', `${HEAD}Expect: 100-continue\r\n${LENGTH}\r\nok`],
    ['that changes the protocol', `${HEAD}Connection: upgrade\r\nUpgrade: websocket\r\n${LENGTH}\r\nok`],
    ['that offers another protocol', `${HEAD}Upgrade: h2c\r\n${LENGTH}\r\nok`],
    ['that is the last', `${HEAD}Connection: close\r\n${LENGTH}\r\nok`],
    ['with bare line feeds', `${HEAD}${LENGTH}\r\nok`.replaceAll('\r\n', '\n')],
    ['with one bare line feed', `${HEAD}X-A: b\n${LENGTH}\r\nok`],
    ['with a folded header', `${HEAD}X-A: b\r\n c\r\n${LENGTH}\r\nok`],
    ['with a blank before a colon', `${HEAD}X-A : b\r\n${LENGTH}\r\nok`],
    ['with a NUL', `${HEAD}X-A: b\0\r\n${LENGTH}\r\nok`],
    ['with a carriage return in a header', `${HEAD}X-A: b\rX-B: c\r\n${LENGTH}\r\nok`],
    ['with many headers', `${HEAD}${Array.from({ length: 200 }, (_, at) => `x-${at}: 1\r\n`).join('')}${LENGTH}\r\nok`],
    ['with a long header', `${HEAD}X-A: ${'a'.repeat(70_000)}`],
    ['with a long target', `POST /${'a'.repeat(70_000)}`],
    ['with a long body', `${HEAD}Content-Length: 70000\r\n\r\n`],
  ])('is one %s', (_, text) => {
    expect(read(text)).toBe('other')
  })
})

describe('whatever is read as a plain request', () => {
  const server = createServer({ joinDuplicateHeaders: true, maxHeaderSize: 131_072, requireHostHeader: false })
  afterAll(() => server.close())

  /** What Node understands of these bytes, if it understands all of them. */
  async function understood(text: string) {
    const [client, end] = duplexPair()
    const requests: unknown[] = []
    const take = async (incoming: IncomingMessage, outgoing: { end(): void }) => {
      const { method, url, headers, httpVersion } = incoming
      const request = { method, url, headers, httpVersion, body: '' }
      requests.push(request)
      for await (const piece of incoming.setEncoding('latin1')) request.body += piece
      outgoing.end()
    }
    const broken = (_: Error, socket: Duplex) => {
      requests.push('broken')
      socket.destroy()
    }
    server.on('request', take).on('clientError', broken)
    server.emit('connection', end)
    client.resume().write(Buffer.from(text, 'latin1'))
    // Where Node awaits more of a request, nothing ends.
    await Promise.race([once(client, 'end'), once(client, 'close'), wait(500)])
    client.destroy()
    server.off('request', take).off('clientError', broken)
    return requests
  }

  const fragment = fc.constantFrom(
    ...['\r\n', '\r', '\n', ' ', '\t', ':', ',', '0', '2', '/', '?', '#', '%', '\0', '\x7f', '\xff', '\x80', '"', '\\'],
    ...['x', 'close', 'chunked', 'POST ', 'HTTP/1.1', 'X-A: b\r\n', 'X-A: \r\n', 'X-B:c\t \r\n', 'Host: b\r\n', 'ok'],
    ...['Content-Length: 2\r\n', 'Content-Length: 07\r\n', 'Transfer-Encoding: chunked\r\n', 'Connection: close\r\n'],
    ...['Cookie: a=b\r\n', 'Keep-Alive: timeout=5\r\n', 'TE: trailers\r\n', 'Upgrade: h2c\r\n', 'Accept: */*\r\n'],
  )

  it('Node understands the same way, and so does it what comes behind', async () => {
    let plain = 0
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), fragment), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(edits, async (changes) => {
        let text = PLAIN
        for (const [place, gone, put] of changes) {
          const from = place % (text.length + 1)
          text = text.slice(0, from) + put + text.slice(from + gone)
        }
        const request = read(text)
        if (typeof request === 'string') return
        plain += 1
        const { incoming, bytes } = request
        const { method, url, headers, httpVersion } = incoming
        const body = Buffer.from(incoming.read() ?? []).toString('latin1')
        const next = 'GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
        expect(await understood(text.slice(0, bytes) + next)).toEqual([
          { method, url, headers: { ...headers }, httpVersion, body },
          expect.objectContaining({ method: 'GET', url: '/next' }),
        ])
      }),
      { numRuns: 3000 },
    )
    expect(plain).toBeGreaterThan(300)
  })
})
