import { describe, expect, it } from 'vitest'
import { SCHEMES, settled, textOf, transportScene } from '../support/transport-scene.node.ts'

const PIECE = Buffer.alloc(65_536, 'x')
const PIECES = 600

describe.each(SCHEMES)('a long answer over %s', (scheme) => {
  const { upstream, send } = transportScene(scheme)
  /** Sends as fast as it is taken, and says how much that was. */
  async function pouring(chunked: boolean) {
    const poured = { pieces: 0 }
    const framing = chunked ? 'transfer-encoding: chunked' : `content-length: ${PIECES * PIECE.length}`
    const far = await upstream(async (connection) => {
      while (await connection.request()) {
        await connection.send(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`)
        for (let at = 0; at < PIECES && !connection.socket.destroyed; at++) {
          await connection.send(chunked ? Buffer.concat([Buffer.from('10000\r\n'), PIECE, Buffer.from('\r\n')]) : PIECE)
          poured.pieces += 1
        }
        if (chunked) await connection.send('0\r\n\r\n')
      }
    })
    return { far, poured }
  }
  async function stalled(poured: { readonly pieces: number }) {
    for (let before = -1; before !== poured.pieces; await settled()) before = poured.pieces
  }

  it.each([
    ['of known length', false],
    ['in chunks', true],
  ])('%s is taken no faster than it is read', async (_, chunked) => {
    const { far, poured } = await pouring(chunked)
    const { body } = await send(far)
    await stalled(poured)
    // What sockets hold of it, on both ends.
    expect(poured.pieces).toBeLessThan(PIECES / 2)
    let length = 0
    for (let piece = await body.read(); piece; piece = await body.read()) {
      // No more than is asked for lies about, beyond what one read of the socket brings.
      expect(piece.byteLength).toBeLessThan(1.5 * PIECE.length)
      length += piece.byteLength
    }
    expect(length).toBe(PIECES * PIECE.length)
    await settled()
    await (await send(far)).body.bytes(PIECES * PIECE.length)
    expect(far.connections.length).toBe(1)
  })

  it('that stood still is read whole', async () => {
    const { far, poured } = await pouring(true)
    const { body } = await send(far)
    const first = textOf(await body.read())
    await stalled(poured)
    const rest = await body.bytes(PIECES * PIECE.length)
    expect(first.length + rest.byteLength).toBe(PIECES * PIECE.length)
  })

  it('that stood still and that nobody wants any more is left', async () => {
    const { far, poured } = await pouring(false)
    const { body } = await send(far)
    await body.read()
    await stalled(poured)
    body.cancel()
    await far.connections[0]?.closed
    expect(poured.pieces).toBeLessThan(PIECES)
  })

  it('whose upstream left when it was not read is still read to where it came', async () => {
    const far = await upstream(async (connection) => {
      await connection.request()
      await connection.send(`HTTP/1.1 200 OK\r\ncontent-length: ${8 * PIECE.length}\r\n\r\n`)
      await connection.send(...Array.from({ length: 8 }, () => PIECE))
      connection.end()
    })
    const { body } = await send(far)
    await settled()
    expect((await body.bytes(8 * PIECE.length)).byteLength).toBe(8 * PIECE.length)
  })
})
