import { once } from 'node:events'
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { BodyTooLarge, TransportError } from '../../src/transport/transport.ts'
import { answerOf, SCHEMES, settled, textOf, transportScene } from '../support/transport-scene.node.ts'

const packedAs = (coding: string, bytes: Buffer) => answerOf(bytes.toString('latin1'), `content-encoding: ${coding}`)

describe.each(SCHEMES)('an answer over %s that was compressed unasked', (scheme) => {
  const { answering, upstream, send, ask } = transportScene(scheme)

  it.each([
    ['gzip', gzipSync('ok')],
    ['X-GZIP', gzipSync('ok')],
    ['deflate', deflateSync('ok')],
    ['br', brotliCompressSync('ok')],
    ['zstd', zstdCompressSync('ok')],
    ['gzip, br', brotliCompressSync(gzipSync('ok'))],
    ['identity', Buffer.from('ok')],
    ['UTF-8', Buffer.from('ok')],
  ])('by %s is decoded, and the next is as it was', async (coding, bytes) => {
    const far = await answering(packedAs(coding, bytes), answerOf('second'))
    expect(await ask(far)).toMatchObject({ status: 200, body: 'ok' })
    await settled()
    expect(await ask(far)).toMatchObject({ status: 200, body: 'second' })
    expect(far.connections.length).toBe(1)
  })

  it.each(['compress', 'gzip, dcb', 'gzip, gzip, gzip'])('by %s is not handed on', async (coding) => {
    const far = await answering(packedAs(coding, gzipSync('ok')))
    const { body } = await send(far)
    await expect(body.read()).rejects.toBeInstanceOf(TransportError)
  })

  it('is read as it comes', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
    const packed = async (text: string) => {
      gzip.write(text)
      const [bytes] = await once(gzip, 'data')
      return bytes as Buffer
    }
    const asked = Promise.withResolvers<void>()
    const far = await upstream(async (connection) => {
      await connection.request()
      await connection.send(
        'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n',
        await packed('one'),
      )
      await asked.promise
      gzip.end('two')
      for await (const bytes of gzip) await connection.send(bytes as Buffer)
      connection.end()
    })
    const { body } = await send(far)
    let read = ''
    while (read.length < 3) read += textOf(await body.read())
    expect(read).toBe('one')
    asked.resolve()
    for (let piece = await body.read(); piece; piece = await body.read()) read += textOf(piece)
    expect(read).toBe('onetwo')
  })

  it('is bounded by what it grows to', async () => {
    const far = await answering(packedAs('gzip', gzipSync(Buffer.alloc(5_000_000))))
    const { body } = await send(far)
    await expect(body.bytes(100_000)).rejects.toBeInstanceOf(BodyTooLarge)
  })

  it.each([
    ['is not compressed at all', Buffer.from('{"plain":true}')],
    ['breaks off', gzipSync('a whole answer').subarray(0, -10)],
  ])('fails where it %s', async (_, bytes) => {
    const { body } = await send(await answering(packedAs('gzip', bytes)))
    await expect(body.bytes(1000)).rejects.toBeInstanceOf(TransportError)
  })

  it('ends with its call, also while what has come as a whole still grows', async () => {
    const far = await answering(packedAs('gzip', gzipSync(Buffer.alloc(30_000_000))))
    const leaving = new AbortController()
    const { body } = await send(far, {}, leaving.signal)
    const length = body.bytes(100_000_000).then(({ byteLength }) => byteLength)
    await settled()
    leaving.abort(new Error('left'))
    await expect(length).rejects.toThrow('left')
  })

  it('fails with its connection, and ends with its call', async () => {
    const whole = packedAs('gzip', gzipSync(Buffer.from('x'.repeat(1000))))
    const cut = await upstream(async (connection) => {
      await connection.request()
      await connection.send(whole.slice(0, -5))
      connection.socket.destroy()
    })
    await expect((await send(cut)).body.bytes(10_000)).rejects.toBeInstanceOf(TransportError)

    const silent = await upstream(async (connection) => {
      await connection.request()
      await connection.send(whole.slice(0, -5))
      await connection.closed
    })
    const leaving = new AbortController()
    const { body } = await send(silent, {}, leaving.signal)
    const rest = body.bytes(10_000)
    leaving.abort(new Error('left'))
    await expect(rest).rejects.toThrow('left')
    const dropped = await send(silent)
    dropped.body.cancel()
    await silent.connections[1]?.closed
  })
})
