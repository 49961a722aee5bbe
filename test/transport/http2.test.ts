import { once } from 'node:events'
import { constants, createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'
import { TransportError, type UpstreamRequest } from '../../src/transport/transport.ts'
import { certificateOf, trusting } from '../support/certificate.node.ts'
import { settled, textOf } from '../support/transport-scene.node.ts'

const PIECE = Buffer.alloc(65_536, 'x')
const PIECES = 1000

/** What a server sends where it has nothing to set. */
const NO_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
/** The end of a connection on which nothing was asked. */
const GOAWAY = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
const CODES = ['NGHTTP2_INTERNAL_ERROR', 'NGHTTP2_NO_ERROR', 'NGHTTP2_CANCEL'] as const

/** What each path answers. */
const ANSWERS: Readonly<Record<string, (request: Http2ServerRequest, response: Http2ServerResponse) => void>> = {
  '/whole': (request, response) => {
    request.resume()
    request.on('end', () => response.writeHead(200, { 'x-version': request.httpVersion }).end('ok'))
  },
  '/stalling': (_, response) => void response.writeHead(200).write('begun'),
  '/pouring': (_, response) => pour(response),
}

let poured = 0
function pour(response: Http2ServerResponse): void {
  while (poured < PIECES && !response.stream.destroyed) {
    poured += 1
    if (!response.write(PIECE)) return void response.once('drain', () => pour(response))
  }
  response.end()
}

describe('an upstream that speaks HTTP/2', () => {
  const transport = nodeTransport()
  let [origin, connections, open] = ['', 0, 0]
  let end = async () => {}
  beforeAll(async () => {
    const certificate = await certificateOf('127.0.0.1')
    const forget = trusting(certificate)
    const server = createSecureServer(certificate, (request, response) => {
      open += 1
      response.stream.once('close', () => (open -= 1))
      response.on('error', () => {})
      ANSWERS[request.url]?.(request, response)
      const code = CODES.find((name) => request.url === `/${name}`)
      if (code) response.writeHead(200).write('begun', () => response.stream.close(constants[code]))
    })
    server.on('session', () => (connections += 1))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    end = async () => {
      await transport.close()
      server.close()
      forget()
    }
  })
  afterAll(() => end())
  beforeEach(() => {
    poured = 0
  })

  const send = (path: string, request: Partial<UpstreamRequest> = {}, signal = new AbortController().signal) =>
    transport.send({ method: 'POST', origin, path, headers: {}, body: '{}', ...request }, signal)
  const isWell = async () => {
    const { status, headers, body } = await send('/whole')
    expect([status, headers['x-version'], textOf(await body.bytes(100))]).toEqual([200, '2.0', 'ok'])
  }

  it('is asked over it, by calls at once over one connection', async () => {
    await Promise.all(Array.from({ length: 50 }, isWell))
    expect(connections).toBe(1)
  })

  it('sends no faster than it is read', async () => {
    const { body } = await send('/pouring')
    for (let before = -1; before !== poured; await settled()) before = poured
    expect(poured).toBeLessThan(PIECES / 2)
    expect((await body.bytes(PIECES * PIECE.length)).byteLength).toBe(PIECES * PIECE.length)
    await isWell()
  })

  it('is left by one call alone: the others of its connection go on', async () => {
    const other = await send('/stalling')
    expect(textOf(await other.body.read())).toBe('begun')
    const left = new AbortController()
    const { body } = await send('/stalling', {}, left.signal)
    expect(textOf(await body.read())).toBe('begun')
    const reading = body.read()
    left.abort(new Error('gone'))
    await expect(reading).rejects.toThrow('gone')
    await expect.poll(() => open).toBe(1)
    await isWell()
    other.body.cancel()
    await expect.poll(() => open).toBe(0)
    expect(connections).toBe(1)
  })

  it.each(CODES)('that resets one answer has given none: %s', async (code) => {
    const { body } = await send(`/${code}`)
    await expect(body.bytes(100)).rejects.toThrow(TransportError)
    await isWell()
  })

  describe('and says no more than', () => {
    const accepted: TLSSocket[] = []
    let says = NO_SETTINGS
    let mute: { readonly origin: string; close(): void }
    beforeAll(async () => {
      const certificate = await certificateOf('127.0.0.1')
      const forget = trusting(certificate)
      const server = createServer({ ...certificate, ALPNProtocols: ['h2'], allowHalfOpen: true }, (socket) => {
        accepted.push(socket)
        socket
          .on('error', () => {})
          .resume()
          .write(says)
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const close = () => void [forget(), server.close(), accepted.map((socket) => socket.destroy())]
      mute = { origin: `https://127.0.0.1:${port}`, close }
    })
    afterAll(() => mute.close())
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    })
    afterEach(() => {
      vi.useRealTimers()
    })
    const watched = async () => {
      await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(1)
      await settled()
    }

    it('its settings, not even to a ping, loses its connection', async () => {
      says = NO_SETTINGS
      const failed = expect(send('/whole', { origin: mute.origin })).rejects.toThrow(
        'the upstream says nothing any more',
      )
      await watched()
      vi.advanceTimersByTime(60_000)
      await failed
      await expect.poll(() => accepted.at(-1)?.destroyed || accepted.at(-1)?.readableEnded).toBe(true)
    })

    it('its farewell, and does not hang up, is not watched any more', async () => {
      says = Buffer.concat([NO_SETTINGS, GOAWAY])
      const left = new AbortController()
      const failed = expect(send('/whole', { origin: mute.origin }, left.signal)).rejects.toThrow()
      await watched()
      left.abort(new Error('gone'))
      await failed
      await expect.poll(() => accepted.at(-1)?.readableEnded).toBe(true)
      vi.advanceTimersByTime(60_000)
    })
  })

  it('that takes no requests is given up after ten seconds', async () => {
    const certificate = await certificateOf('127.0.0.1')
    const forget = trusting(certificate)
    const server = createSecureServer({ ...certificate, settings: { maxConcurrentStreams: 0 } })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const failed = send('/whole', { origin: `https://127.0.0.1:${port}` })
    await expect(failed).rejects.toThrow(TransportError)
    forget()
    server.close()
  })

  it.each([
    ['a line break in a value', { headers: { 'x-a': 'b\r\nx-injected: 1' } }],
    ['a blank in a name', { headers: { 'x a': '1' } }],
    ['a line break in its path', { path: '/whole\r\nx: 1' }],
  ] as const)('is not sent a request with %s', async (_, request) => {
    await expect(send('/whole', request)).rejects.toThrow(TransportError)
    await isWell()
  })
})
