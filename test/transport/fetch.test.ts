import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { GatewayError } from '../../src/lib/errors.ts'
import { asUpstreamFailure } from '../../src/pipeline/failures.ts'
import { fetchTransport } from '../../src/transport/fetch.ts'
import { BodyTooLarge, TransportError } from '../../src/transport/transport.ts'

const WHOLE = 'x'.repeat(10_000)

/** What each path answers. */
const ANSWERS: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/told': (_, response) => void response.writeHead(200, { 'content-length': WHOLE.length }).end(WHOLE),
  '/untold': (_, response) => void response.writeHead(200).write(WHOLE, () => response.end(WHOLE)),
  '/packed': (_, response) => {
    const packed = gzipSync(WHOLE)
    response.writeHead(200, { 'content-length': packed.length, 'content-encoding': 'gzip' }).end(packed)
  },
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': WHOLE.length })
    response.write(WHOLE.slice(0, 100), () => response.destroy())
  },
  '/silent': (_, response) => void response.writeHead(200, { 'content-length': WHOLE.length }).write('x'),
  '/nothing': (_, response) => void response.writeHead(200, { 'content-length': 0 }).end(),
}

describe('a whole answer, over fetch', () => {
  const server = createServer((request, response) => ANSWERS[request.url ?? '']?.(request, response))
  let origin = ''
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const ask = (path: string, signal = new AbortController().signal) =>
    fetchTransport().send({ method: 'GET', origin, path, headers: {} }, signal)
  const bytes = async (path: string, limitBytes: number) => (await (await ask(path)).body.bytes(limitBytes)).byteLength

  it.each([
    ['tells its length', '/told', WHOLE.length],
    ['does not', '/untold', 2 * WHOLE.length],
    ['is packed', '/packed', WHOLE.length],
    ['is empty', '/nothing', 0],
  ])('that %s is read up to the limit and not beyond', async (_, path, length) => {
    expect(await bytes(path, length)).toBe(length)
    if (length > 0) await expect(bytes(path, length - 1)).rejects.toThrow(BodyTooLarge)
  })

  it('is all that is left, once some of it was read', async () => {
    const { body } = await ask('/told')
    const first = (await body.read())?.byteLength ?? 0
    expect(first + (await body.bytes(WHOLE.length)).byteLength).toBe(WHOLE.length)
  })

  it('that ends early is no answer', async () => {
    await expect(bytes('/cut', WHOLE.length)).rejects.toThrow(TransportError)
  })

  it('that a runtime does not ask for any more is no fault of the far end', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new Error('Too many subrequests by single Worker invocation.')))
    try {
      const failure = await ask('/told').catch(asUpstreamFailure)
      expect(failure).toMatchObject({ status: 503, code: 'too_many_subrequests', isFinal: true })
      expect((failure as GatewayError).row.blames).toBeUndefined()
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('is not waited for when nobody wants it any more', async () => {
    const left = new AbortController()
    const { body } = await ask('/silent', left.signal)
    const reading = body.bytes(WHOLE.length)
    left.abort(new Error('gone'))
    await expect(reading).rejects.toThrow('gone')
  })
})
