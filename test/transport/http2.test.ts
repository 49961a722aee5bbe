import { once } from 'node:events'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'
import { TransportError, type UpstreamRequest } from '../../src/transport/transport.ts'
import { certificateOf, trusting } from '../support/certificate.node.ts'
import { settled, textOf } from '../support/transport-scene.node.ts'

const PIECE = Buffer.alloc(65_536, 'x')
const PIECES = 1000

/** What each path answers. */
const ANSWERS: Readonly<Record<string, (request: Http2ServerRequest, response: Http2ServerResponse) => void>> = {
  '/whole': (request, response) => {
    request.resume()
    request.on('end', () => response.writeHead(200, { 'x-version': request.httpVersion }).end('ok'))
  },
  '/stalling': (_, response) => void response.writeHead(200).write('begun'),
  '/cut': (_, response) => {
    response.writeHead(200)
    response.write('begun', () => response.stream.close(2))
  },
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

  it('that breaks off one answer has given none', async () => {
    const { body } = await send('/cut')
    await expect(body.bytes(100)).rejects.toThrow(TransportError)
    await isWell()
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
