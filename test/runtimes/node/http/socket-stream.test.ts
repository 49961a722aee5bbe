import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { socketStream } from '../../../../src/runtimes/node/http/socket-stream.node.ts'

const server = createServer()
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const PIECES = 64
const PIECE = new Uint8Array(262_144).fill(97)

it('many pieces that wait for a slow client listen for its socket once', async () => {
  const arriving = once(server, 'request')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [, outgoing] = (await arriving) as [unknown, ServerResponse]
  outgoing.writeHead(200)
  const stream = socketStream(outgoing)
  const end = stream.readable.getReader().read()
  const writing = Array.from({ length: PIECES }, () => stream.write(PIECE))
  // The first read is behind the head, and the pieces behind that.
  await new Promise((resolve) => setImmediate(resolve))
  expect(outgoing.listenerCount('drain')).toBe(1)
  let received = 0
  socket.on('data', (bytes) => {
    received += bytes.byteLength
  })
  const ended = once(socket.resume(), 'end')
  await Promise.all(writing)
  await stream.close()
  await end
  outgoing.end()
  socket.end()
  await ended
  expect(received).toBeGreaterThan(PIECES * PIECE.byteLength)
})
