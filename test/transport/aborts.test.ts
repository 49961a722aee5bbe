import { describe, expect, it } from 'vitest'
import { newAbort } from '../../src/lib/abort.ts'
import type { Pieces } from '../../src/lib/bytes/pieces.ts'
import { BodyTooLarge, TransportError } from '../../src/transport/transport.ts'
import type { RawConnection } from '../support/raw-upstream.node.ts'
import { answerOf, SCHEMES, settled, textOf, transportScene } from '../support/transport-scene.node.ts'

const gone = new Error('the client is gone')

describe.each(SCHEMES)('an abort over %s', (scheme) => {
  const scene = transportScene(scheme)
  const { answering, upstream, ask, send } = scene
  /** Sends this, and nothing more, for each request. */
  const stalling = (bytes: string) =>
    upstream(async (connection) => {
      await connection.request()
      await connection.send(bytes)
      await connection.closed
    })
  const isClosed = (connection: RawConnection | undefined) => expect(connection?.closed).resolves.toBeUndefined()

  it('before the call sends nothing', async () => {
    const far = await answering(answerOf('ok'))
    await expect(send(far, {}, AbortSignal.abort(gone))).rejects.toBe(gone)
    await settled()
    expect(far.connections.length).toBe(0)
  })

  it('before there is a connection ends the call at once, and sends nothing', async () => {
    const far = await answering(answerOf('ok'))
    const abort = newAbort<Error>()
    const sent = scene
      .transport()
      .send({ method: 'POST', origin: far.origin, path: '/', headers: {}, body: 'x' }, abort)
    abort.abort(gone)
    await expect(sent).rejects.toBe(gone)
    await settled()
    expect(far.requests()).toBe(0)
    expect((await ask(far)).body).toBe('ok')
  })

  it('before the head ends the connection', async () => {
    const far = await stalling('HTTP/1.1 200 OK\r\n')
    const left = new AbortController()
    const sent = send(far, {}, left.signal)
    await expect.poll(() => far.requests()).toBe(1)
    left.abort(gone)
    await expect(sent).rejects.toBe(gone)
    await isClosed(far.connections[0])
  })

  it('of a kept connection ends it, and the next request has a new one', async () => {
    const far = await upstream(async (connection, index) => {
      await connection.request()
      await connection.send(answerOf('ok'))
      if (index > 0) return
      await connection.request()
      await connection.closed
    })
    await ask(far)
    await settled()
    const left = new AbortController()
    const sent = send(far, {}, left.signal)
    await expect.poll(() => far.requests()).toBe(2)
    left.abort(gone)
    await expect(sent).rejects.toBe(gone)
    expect((await ask(far)).body).toBe('ok')
    await isClosed(far.connections[0])
  })

  it.each(['read', 'bytes'] as const)('within the body ends the connection and the reading (%s)', async (how) => {
    const far = await stalling('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegun')
    const left = new AbortController()
    const { body } = await send(far, {}, left.signal)
    if (how === 'read') expect(textOf(await body.read())).toBe('begun')
    const reading = how === 'read' ? body.read() : body.bytes(100)
    left.abort(gone)
    await expect(reading).rejects.toBe(gone)
    await isClosed(far.connections[0])
  })

  it('within an upload ends the connection', async () => {
    const far = await upstream(({ closed }) => closed)
    const upload: Pieces = { length: undefined, read: async () => new Uint8Array(1000) }
    const left = new AbortController()
    const sent = send(far, { upload }, left.signal)
    await expect.poll(() => far.connections[0]?.received().length ?? 0).toBeGreaterThan(1000)
    left.abort(gone)
    await expect(sent).rejects.toBe(gone)
    await isClosed(far.connections[0])
  })

  it('after the answer changes nothing: its connection serves the next request', async () => {
    const far = await answering(answerOf('ok'))
    const left = new AbortController()
    const { body } = await send(far, {}, left.signal)
    expect(textOf(await body.bytes(100))).toBe('ok')
    left.abort(gone)
    body.cancel()
    await settled()
    expect((await ask(far)).body).toBe('ok')
    expect(far.connections.length).toBe(1)
  })

  it('keeps no hold of a signal that lives on', async () => {
    const far = await answering(answerOf('ok'))
    const held = new Set<() => void>()
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener: (_: 'abort', listener: () => void) => void held.add(listener),
      removeEventListener: (_: 'abort', listener: () => void) => void held.delete(listener),
    }
    const request = { method: 'POST', path: '/', headers: {} } as const
    const sent = scene.transport().send({ ...request, origin: far.origin }, signal)
    expect(held.size).toBe(1)
    await (await sent).body.bytes(100)
    expect(held.size).toBe(0)
    const broken = await answering('nonsense')
    await expect(scene.transport().send({ ...request, origin: broken.origin }, signal)).rejects.toThrow(TransportError)
    expect(held.size).toBe(0)
  })

  it('by who reads ends the call', async () => {
    const far = await stalling('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegun')
    const { body } = await send(far)
    expect(textOf(await body.read())).toBe('begun')
    const reading = body.read()
    body.cancel()
    await expect(reading).rejects.toThrow(TransportError)
    await isClosed(far.connections[0])
  })

  it('by a limit ends the call', async () => {
    const far = await stalling('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegun')
    const { body } = await send(far)
    await expect(body.bytes(4)).rejects.toThrow(BodyTooLarge)
    await isClosed(far.connections[0])
  })

  it('by who counts what arrives ends the call', async () => {
    const far = await stalling('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegun')
    const { body } = await send(far)
    const full = new Error('no room')
    const refusing = () => {
      throw full
    }
    await expect(body.bytes(100, refusing)).rejects.toBe(full)
    await isClosed(far.connections[0])
  })
})
