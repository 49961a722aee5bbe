import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { connectionsOf, drain, pendingWork } from '../../../../src/runtimes/node/http/drain.node.ts'

it('answers a request that lies in a kept connection, unread, when the end begins', async () => {
  const server = createServer((_request, outgoing) => {
    connections.answering(outgoing)
    outgoing.end('served')
  })
  const connections = connectionsOf(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let received = ''
  client.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  const closed = once(client, 'close')
  const request = 'GET / HTTP/1.1\r\nhost: here\r\n\r\n'
  client.write(request)
  await expect.poll(() => received).toMatch(/served/)

  // The bytes are in the server's socket when the call returns; its event loop has not looked there yet.
  client.write(request)
  const outcome = drain(server, { connections, pending: pendingWork(() => {}), limitMs: 5000 })
  await closed
  expect(received.match(/served/g)).toHaveLength(2)
  expect(received.split('HTTP/1.1')[2]).toMatch(/^connection: close\r$/im)
  expect(await outcome).toBe('drained')
})
