import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { listening } from '../../../../src/runtimes/node/http/listening.node.ts'

function serverWithout(code?: string) {
  const server = createServer()
  onTestFinished(() => void server.close())
  const refuse = () => {
    queueMicrotask(() => server.emit('error', Object.assign(new Error(code), { code })))
    return server
  }
  if (code) vi.spyOn(server, 'listen').mockImplementationOnce(refuse)
  return server
}

it.each([undefined, 'EAFNOSUPPORT', 'EADDRNOTAVAIL'])(
  ':: is reached by IPv4, on a machine without IPv6 too: %s',
  async (code) => {
    const server = serverWithout(code)
    await listening(server, 0, '::')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
  },
)

it.each([
  ['::', 'EADDRINUSE'],
  ['::1', 'EADDRNOTAVAIL'],
])('%s is refused with %s', async (host, code) => {
  await expect(listening(serverWithout(code), 0, host)).rejects.toMatchObject({ code })
})
