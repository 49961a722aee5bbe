import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { connectionsOf, drain, pendingWork } from '../../../../src/runtimes/node/http/drain.node.ts'
import type { Listener } from '../../../../src/runtimes/node/http/messages.node.ts'
import { plainConnections } from '../../../../src/runtimes/node/http/plain/plain-connections.node.ts'

const requests = [
  ['by Node', 'GET / HTTP/1.1\r\nhost: here\r\n\r\n'],
  ['without it', 'POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 2\r\n\r\nok'],
] as const

/** A server that has answered a request of a client, whose connection is kept alive. */
async function keeping(request: string) {
  const listener: Listener = (_incoming, outgoing) => {
    connections.answering(outgoing)
    outgoing.writeHead(200, {})
    outgoing.end(Buffer.from('served'))
  }
  const server = createServer(listener)
  const connections = connectionsOf(server, plainConnections(server, listener))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let received = ''
  client.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  const closed = once(client, 'close')
  client.write(request)
  await expect.poll(() => received).toMatch(/served/)
  const end = (idleMs: number) => drain(server, { connections, pending: pendingWork(() => {}), limitMs: 5000, idleMs })
  return { server, connections, client, closed, end, received: () => received }
}

it.each(requests)(
  'answers a request that lies in a kept connection, unread, when the end begins (%s)',
  async (_, request) => {
    const { client, closed, end, received } = await keeping(request)
    // The bytes are in the server's socket when the call returns; its event loop has not looked there yet.
    client.write(request)
    const outcome = end(5)
    await closed
    expect(received().match(/served/g)).toHaveLength(2)
    expect(await outcome).toBe('drained')
  },
)

it.each(requests)(
  'answers a request that comes over a kept connection soon after, as its last (%s)',
  async (_, request) => {
    const { server, client, closed, end, received } = await keeping(request)
    const outcome = end(1000)
    await expect.poll(() => server.listening).toBe(false)
    client.write(request)
    await closed
    expect(received().match(/served/g)).toHaveLength(2)
    expect(received().split('HTTP/1.1')[2]).toMatch(/^connection: close\r$/im)
    expect(await outcome).toBe('drained')
  },
)

it('answers clients that have connected, but were not accepted when the end begins', async () => {
  const { server, client, end } = await keeping(requests[0][1])
  // The loop has looked at its sockets when this is told, as it has when a signal is.
  await stat('.')
  const { port } = server.address() as AddressInfo
  const answers = Array.from({ length: 5 }, async () => {
    const waiting = connect(port, '127.0.0.1').setEncoding('utf8')
    waiting.write('GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n')
    return (await waiting.toArray()).join('')
  })
  const outcome = end(50)
  for (const received of await Promise.all(answers)) expect(received).toMatch(/served/)
  expect(await outcome).toBe('drained')
  client.destroy()
})

it.each(requests)('closes a connection that was idle twice, without an answer in between (%s)', async (_, request) => {
  const { server, connections, client, closed, received } = await keeping(request)
  connections.closeIdle()
  client.write(request)
  await expect.poll(() => received().match(/served/g)).toHaveLength(2)
  connections.closeIdle()
  connections.closeIdle()
  await closed
  server.close()
})
