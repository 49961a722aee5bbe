import { describe, expect, it } from 'vitest'
import { TransportError } from '../../src/transport/transport.ts'
import type { RawConnection } from '../support/raw-upstream.node.ts'
import { answerOf, SCHEMES, settled, textOf, transportScene } from '../support/transport-scene.node.ts'

/** Bytes that nobody has asked for. */
const UNASKED: Readonly<Record<string, string>> = {
  'a whole answer': answerOf('poison'),
  'half an answer': 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npo',
  'the head of an answer': 'HTTP/1.1 200 OK\r\n',
  'an early hint': 'HTTP/1.1 103 Early Hints\r\n\r\n',
  'what is no answer': 'x',
}
const CHUNKS = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'

describe.each(SCHEMES)('a connection over %s', (scheme) => {
  const scene = transportScene(scheme)
  const { upstream, answering, send, ask } = scene
  /** Gives each request of each connection its own number as an answer. */
  const counting = () => {
    let count = 0
    return upstream(async (connection) => {
      while (await connection.request()) {
        count += 1
        await connection.send(answerOf(String(count)))
      }
    })
  }

  it('serves one request after the other', async () => {
    const far = await counting()
    for (let at = 1; at <= 5; at++) {
      expect((await ask(far)).body).toBe(String(at))
      await settled()
    }
    expect(far.connections.length).toBe(1)
  })

  it('serves one request at a time: as many at once have as many connections, which serve the next ones', async () => {
    let waiting: RawConnection[] = []
    const far = await upstream(async (connection) => {
      while (await connection.request()) {
        // All are answered when all are there.
        if (waiting.push(connection) < 40) continue
        for (const one of waiting.splice(0)) void one.send(answerOf('ok'))
      }
    })
    for (let round = 0; round < 3; round++) {
      waiting = []
      const answers = await Promise.all(Array.from({ length: 40 }, () => ask(far)))
      expect(answers.every(({ body }) => body === 'ok')).toBe(true)
      expect(far.connections.length).toBe(40)
      await settled()
    }
  })

  it('keeps the answers of requests at once apart', async () => {
    const far = await upstream(async (connection) => {
      for (let asked = await connection.request(); asked; asked = await connection.request()) {
        const body = /^POST \/(\w+)/.exec(asked.head)?.[1] ?? ''
        // Later ones are answered earlier.
        for (let turn = 0; turn < 50 - Number(body); turn++) await settled()
        await connection.send(answerOf(body))
      }
    })
    const paths = Array.from({ length: 50 }, (_, at) => String(at))
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(paths.map((path) => ask(far, { path: `/${path}` })))
      expect(answers.map(({ body }) => body)).toEqual(paths)
    }
  })

  it('is each origin’s own', async () => {
    const [one, other] = [await answering(answerOf('one')), await answering(answerOf('other'))]
    for (let round = 0; round < 3; round++) {
      expect((await ask(one)).body).toBe('one')
      expect((await ask(other)).body).toBe('other')
      await settled()
    }
    expect([one.connections.length, other.connections.length]).toEqual([1, 1])
  })

  describe.each(Object.entries(UNASKED))('that brings %s unasked', (_, unasked) => {
    it.each([
      ['of known length', answerOf('ok')],
      ['in chunks', CHUNKS],
    ])('with an answer %s, gives it to nobody', async (_, answer) => {
      const far = await answering(answer + unasked, answerOf('poison'))
      expect((await ask(far)).body).toBe('ok')
      await settled()
      expect((await ask(far)).body).toBe('ok')
      expect(far.connections.length).toBe(2)
    })

    it('while it is idle, is given up', async () => {
      const far = await answering(answerOf('ok'))
      await ask(far)
      await settled()
      await far.connections[0]?.send(unasked)
      await far.connections[0]?.closed
      expect((await ask(far)).body).toBe('ok')
      expect(far.connections.length).toBe(2)
    })

    it('as the next request leaves, gives it to nobody', async () => {
      const far = await answering(answerOf('ok'), answerOf('poison'))
      await ask(far)
      await settled()
      // It lies at the socket, unread, when the request is sent in the same turn.
      const arrived = far.connections[0]?.send(unasked)
      const answer = ask(far)
      await arrived
      expect((await answer).body).toBe('ok')
      expect(far.connections.length).toBe(2)
    })
  })

  it('that the upstream ends is not used again', async () => {
    const far = await answering(answerOf('ok'))
    for (const leave of ['end', 'reset'] as const) {
      await ask(far)
      await settled()
      const connection = far.connections.at(-1)
      if (leave === 'end') connection?.end()
      else connection?.socket.resetAndDestroy()
      await settled()
      expect((await ask(far)).body).toBe('ok')
    }
    expect([far.connections.length, far.requests()]).toEqual([3, 4])
  })

  it.each(['end', 'reset'] as const)(
    'that ends (%s) as its request arrives fails it, and never sends it again',
    async (how) => {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
        const far = await upstream(async (connection, index) => {
          await connection.request()
          await connection.send(answerOf('ok'))
          if (index > 0 || !(await connection.request())) return
          if (how === 'end') connection.end()
          else connection.socket.resetAndDestroy()
        })
        await ask(far)
        await settled()
        await expect(ask(far, { method })).rejects.toThrow(TransportError)
        await settled()
        expect(far.requests()).toBe(2)
        expect((await ask(far)).body).toBe('ok')
      }
    },
  )

  it('whose upstream has ended its own direction is closed as well', async () => {
    const far = await answering(answerOf('ok'))
    await ask(far)
    await settled()
    far.connections[0]?.end()
    await far.connections[0]?.closed
  })

  it('that nobody listens at, or that is refused, is an error that names its origin alone', async () => {
    const far = await answering(answerOf('ok'))
    await far.close()
    await expect(ask(far)).rejects.toThrow(new TransportError(`the connection to ${far.origin} failed: ECONNREFUSED`))
  })

  it('ends with the transport: idle ones and those in use, whose requests fail', async () => {
    const far = await upstream(async (connection) => {
      await connection.request()
      await connection.send(answerOf('ok'))
      await connection.request()
      await connection.send('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegun')
      await connection.closed
    })
    await ask(far)
    await settled()
    const { body } = await send(far)
    expect(textOf(await body.read())).toBe('begun')
    const headless = send(await upstream(({ closed }) => closed)).catch((error) => error)
    const unread = expect(body.read()).rejects.toThrow(TransportError)
    const idle = await answering(answerOf('ok'))
    await ask(idle)
    await scene.transport().close()
    await unread
    expect(await headless).toBeInstanceOf(TransportError)
    for (const { connections } of [far, idle]) await Promise.all(connections.map(({ closed }) => closed))
    await expect(ask(idle)).rejects.toThrow(TransportError)
  })
})
