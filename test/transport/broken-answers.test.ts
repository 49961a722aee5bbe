import { describe, expect, it } from 'vitest'
import { TransportError } from '../../src/transport/transport.ts'
import { answerOf, SCHEMES, settled, transportScene } from '../support/transport-scene.node.ts'

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const LAST = '2\r\nok\r\n0\r\n\r\n'
const LENGTH = 'content-length: 2\r\n\r\nok'

/** Answers that two readers could understand differently, or nobody at all. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'with a length and chunks': `HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n${LAST}`,
  'with chunks and a length': `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n${LAST}`,
  'with two lengths': `HTTP/1.1 200 OK\r\ncontent-length: 3\r\n${LENGTH}`,
  'with a list of lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 2, 3\r\n\r\nok',
  'with two lengths in one': 'HTTP/1.1 200 OK\r\ncontent-length: 2 2\r\n\r\nok',
  'with a signed length': 'HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nok',
  'with a negative length': 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok',
  'with a length in hexadecimal': 'HTTP/1.1 200 OK\r\ncontent-length: 0x2\r\n\r\nok',
  'with an empty length': 'HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\nok',
  'with a length beyond all numbers': `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(30)}\r\n\r\nok`,
  'with a blank before the colon': 'HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\nok',
  'with a folded header': `HTTP/1.1 200 OK\r\nx-a: one\r\n two\r\n${LENGTH}`,
  'with a fold before any header': `HTTP/1.1 200 OK\r\n x-a: one\r\n${LENGTH}`,
  'with bare line feeds': 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok',
  'with one bare line feed': `HTTP/1.1 200 OK\r\nx-a: b\n${LENGTH}`,
  'with a bare carriage return': `HTTP/1.1 200 OK\r\nx-a: b\r${LENGTH}`,
  'with a NUL': `HTTP/1.1 200 OK\r\nx-a: b\0c\r\n${LENGTH}`,
  'with a control character': `HTTP/1.1 200 OK\r\nx-a: b\x01c\r\n${LENGTH}`,
  'with a header without a name': `HTTP/1.1 200 OK\r\n: b\r\n${LENGTH}`,
  'with a blank in a name': `HTTP/1.1 200 OK\r\nx a: b\r\n${LENGTH}`,
  'with a name beyond ASCII': `HTTP/1.1 200 OK\r\nx-\xe9: b\r\n${LENGTH}`,
  'with a header without a colon': `HTTP/1.1 200 OK\r\nnonsense\r\n${LENGTH}`,
  'of another version': `HTTP/1.2 200 OK\r\n${LENGTH}`,
  'of another protocol': 'SSH-2.0-OpenSSH_9\r\n',
  'of an older protocol': `ICY 200 OK\r\n${LENGTH}`,
  'behind a blank': ` HTTP/1.1 200 OK\r\n${LENGTH}`,
  'with a status of two digits': `HTTP/1.1 99 OK\r\n${LENGTH}`,
  'with a status of four': `HTTP/1.1 2000 OK\r\n${LENGTH}`,
  'with a status of nothing': `HTTP/1.1 000 OK\r\n${LENGTH}`,
  'with a status of letters': `HTTP/1.1 2x0 OK\r\n${LENGTH}`,
  'that changes the protocol': `HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n${answerOf('ok')}`,
  'that changes the protocol to nothing': `HTTP/1.1 101 Switching\r\n\r\n${answerOf('ok')}`,
  'with chunks of no size': `${CHUNKED}\r\nok\r\n0\r\n\r\n`,
  'with a size of letters': `${CHUNKED}zz\r\nok\r\n0\r\n\r\n`,
  'with a size of 0x': `${CHUNKED}0x2\r\nok\r\n0\r\n\r\n`,
  'with a negative size': `${CHUNKED}-2\r\nok\r\n0\r\n\r\n`,
  'with a blank before a size': `${CHUNKED} 2\r\nok\r\n0\r\n\r\n`,
  'with a blank behind a size': `${CHUNKED}2 \r\nok\r\n0\r\n\r\n`,
  'with a size beyond all numbers': `${CHUNKED}${'f'.repeat(17)}\r\nok`,
  'with a longer chunk than told': `${CHUNKED}2\r\nokay\r\n0\r\n\r\n`,
  'with a line feed behind a size': `${CHUNKED}2\nok\r\n0\r\n\r\n`,
  'with a line feed behind an extension': `${CHUNKED}2;a\nok\r\n0\r\n\r\n`,
  'with a line feed behind a chunk': `${CHUNKED}2\r\nok\n0\r\n\r\n`,
  'with a carriage return behind a size': `${CHUNKED}2\rXok\r\n0\r\n\r\n`,
  'with a length in its trailers': `${CHUNKED}2\r\nok\r\n0\r\ncontent-length: 9\r\n\r\n`,
  'with a broken trailer': `${CHUNKED}2\r\nok\r\n0\r\nnonsense\r\n\r\n`,
  'with too long a header': `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(20_000)}\r\n${LENGTH}`,
  'with too many headers': `HTTP/1.1 200 OK\r\n${Array.from({ length: 4000 }, (_, at) => `x-${at}: 1\r\n`).join('')}${LENGTH}`,
  'with too long trailers': `${CHUNKED}2\r\nok\r\n0\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`,
}

/** Answers whose connection ends within them. */
const CUT: Readonly<Record<string, string>> = {
  'before it began': '',
  'within its first line': 'HTTP/1.1 20',
  'within its head': 'HTTP/1.1 200 OK\r\ncontent-le',
  'behind an early hint': 'HTTP/1.1 103 Early Hints\r\n\r\n',
  'before its body': 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n',
  'within its body': 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nok',
  'within its body, of the last answer': 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nok',
  'before a chunk': CHUNKED,
  'within the size of a chunk': `${CHUNKED}2`,
  'within a chunk': `${CHUNKED}5\r\nok`,
  'behind a chunk': `${CHUNKED}2\r\nok\r\n`,
  'before the last line of its chunks': `${CHUNKED}2\r\nok\r\n0\r\n`,
  'within its trailers': `${CHUNKED}2\r\nok\r\n0\r\nx-a: b\r\n`,
}

describe.each(SCHEMES)('an answer over %s', (scheme) => {
  const { upstream, ask } = transportScene(scheme)
  const telling = (bytes: string, then?: 'end' | 'reset') =>
    upstream(async (connection, index) => {
      await connection.request()
      if (index > 0) return connection.send(answerOf('second'))
      await connection.send(bytes)
      // What was sent has arrived before the connection is gone.
      await settled()
      if (then === 'end') connection.end()
      if (then === 'reset') connection.socket.resetAndDestroy()
      // What else comes is not for this connection.
      if (await connection.request()) await connection.send(answerOf('poison'))
    })

  async function isRefused(bytes: string, then?: 'end' | 'reset') {
    const far = await telling(bytes, then)
    const refused = await ask(far).catch((error) => error)
    expect(refused).toBeInstanceOf(TransportError)
    expect(refused.message.split('\n')[0]).toMatch(/^the connection to https?:\/\/127\.0\.0\.1:\d+ failed: \w+$/)
    await settled()
    expect(await ask(far)).toMatchObject({ status: 200, body: 'second' })
    expect([far.connections.length, far.requests()]).toEqual([2, 2])
    await far.connections[0]?.closed
  }

  it.each(Object.entries(AMBIGUOUS))('%s is none, and ends its connection', (_, bytes) => isRefused(bytes))

  it.each(Object.entries(CUT))('that ends %s is none', (_, bytes) => isRefused(bytes, 'end'))

  it.each(Object.entries(CUT))('that is reset %s is none', (_, bytes) => isRefused(bytes, 'reset'))

  it('whose head never ends is given up before it fills the memory', async () => {
    let sent = 0
    const far = await upstream(async (connection) => {
      await connection.request()
      await connection.send('HTTP/1.1 200 OK\r\n')
      for (; !connection.socket.destroyed && sent < 100_000_000; sent += 1000) {
        await connection.send(`x-${sent}: ${'a'.repeat(1000)}\r\n`)
      }
    })
    await expect(ask(far)).rejects.toThrow(TransportError)
    expect(sent).toBeLessThan(1_000_000)
  })

  it('that has no body and sends one keeps it from the next request', async () => {
    for (const head of ['204 No Content', '304 Not Modified']) {
      const far = await telling(`HTTP/1.1 ${head}\r\ncontent-length: 6\r\n\r\npoison`)
      expect(await ask(far)).toMatchObject({ status: Number(head.slice(0, 3)), body: '' })
      await settled()
      expect(await ask(far)).toMatchObject({ status: 200, body: 'second' })
      expect(far.connections.length).toBe(2)
    }
  })
})
