import { describe, expect, it } from 'vitest'
import type { Pieces } from '../../src/lib/bytes/pieces.ts'
import { TransportError } from '../../src/transport/transport.ts'
import { answerOf, SCHEMES, settled, textOf, transportScene } from '../support/transport-scene.node.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** Gives these pieces in turn, then fails with `failure`, if there is one. */
function piecesFrom(texts: readonly string[], length?: number, failure?: Error): Pieces & { asked(): number } {
  let at = 0
  return {
    length,
    asked: () => at,
    async read() {
      const text = texts[at++]
      if (text !== undefined) return bytes(text)
      if (failure) throw failure
      return undefined
    },
  }
}

describe.each(SCHEMES)('an upload over %s', (scheme) => {
  const { answering, upstream, send, ask } = transportScene(scheme)

  it('arrives in chunks where its length is not known', async () => {
    const far = await answering(answerOf('ok'))
    expect((await ask(far, { upload: piecesFrom(['abc', '0123456789abcdef']) })).body).toBe('ok')
    const received = far.connections[0]?.received() ?? ''
    expect(received).toContain('transfer-encoding: chunked\r\n')
    expect(received).not.toMatch(/^content-length/m)
    expect(received.endsWith('\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n')).toBe(true)
    await settled()
    expect((await ask(far, { upload: piecesFrom(['abc']) })).body).toBe('ok')
    expect(far.connections.length).toBe(1)
  })

  it('arrives as it is where its length is known', async () => {
    const far = await answering(answerOf('ok'))
    expect((await ask(far, { upload: piecesFrom(['abc', 'def'], 6) })).body).toBe('ok')
    const received = far.connections[0]?.received() ?? ''
    expect(received).not.toContain('transfer-encoding')
    expect(received).toMatch(/^content-length: 6\r$/m)
    expect(received.endsWith('\r\n\r\nabcdef')).toBe(true)
  })

  it.each([
    ['longer', ['abc', 'GET / HTTP/1.1\r\n\r\n'], 3],
    ['shorter', ['abc'], 6],
  ] as const)('that is %s than it said fails, and its connection serves nobody else', async (_, texts, length) => {
    const far = await upstream(async (connection) => {
      while (await connection.request()) await connection.send(answerOf('ok'))
    })
    await ask(far)
    await settled()
    const outcome = await ask(far, { upload: piecesFrom(texts, length) }).catch((error) => error)
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(TransportError)
    await settled()
    expect((await ask(far)).body).toBe('ok')
    expect(far.connections.length).toBe(2)
    expect(far.connections.map((one) => one.received()).join('')).not.toContain('GET /')
  })

  it('that breaks off fails with the same error, and is not taken for whole', async () => {
    for (const length of [undefined, 6]) {
      const far = await answering(answerOf('ok'))
      const failure = new Error('the disk is gone')
      await expect(ask(far, { upload: piecesFrom(['abc'], length, failure) })).rejects.toBe(failure)
      await far.connections[0]?.closed
      expect(far.requests()).toBe(0)
    }
  })

  it('may be answered before it is whole: the answer counts, and the connection serves nobody else', async () => {
    let go = () => {}
    const held = new Promise<void>((resolve) => (go = resolve))
    const pieces = piecesFrom(['abc', 'def'])
    const upload: Pieces = {
      length: undefined,
      async read() {
        if (pieces.asked() === 1) await held
        return pieces.read()
      },
    }
    const far = await upstream(async (connection, index) => {
      if (index > 0) await connection.request()
      else await expect.poll(() => connection.received()).toContain('abc')
      await connection.send(answerOf('early'))
      await connection.closed
    })
    const { body } = await send(far, { upload })
    expect(textOf(await body.bytes(100))).toBe('early')
    go()
    await settled()
    expect((await ask(far)).body).toBe('early')
    expect(far.connections.length).toBe(2)
  })

  it('is read no faster than its upstream takes it', async () => {
    const far = await upstream(async ({ stream, closed }) => {
      stream.pause()
      await closed
    })
    let asked = 0
    const upload: Pieces = {
      length: undefined,
      read: async () => (asked++ < 2000 ? new Uint8Array(65_536) : undefined),
    }
    const left = new AbortController()
    const answer = send(far, { upload }, left.signal).catch((error) => error)
    await expect.poll(() => asked).toBeGreaterThan(0)
    for (let before = -1; before !== asked; await settled()) before = asked
    // What the system holds of it, on both ends, is a few dozen megabytes at most.
    expect(asked).toBeLessThan(1500)
    left.abort()
    expect(await answer).toBeInstanceOf(Error)
  })
})
