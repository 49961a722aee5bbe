import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { certificateOf } from '../support/certificate.node.ts'
import { REPLY } from './wire.ts'

/** The far end of `transport.ts`, a process of its own: answers each whole request at once, with as many headers as a
 *  provider's answer has. Prints its ports and its certificate. */
const HEADERS = Array.from({ length: 20 }, (_, at) => `x-ratelimit-remaining-${at}: 1234567\r\n`).join('')
const ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${HEADERS}content-length: ${REPLY.length}\r\n\r\n${REPLY}`,
)

function serve(socket: Socket): void {
  let received = ''
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    for (;;) {
      const head = received.indexOf('\r\n\r\n')
      const length = head === -1 ? 0 : Number(/^content-length: (\d+)\r$/im.exec(received.slice(0, head + 1))?.[1] ?? 0)
      if (head === -1 || received.length < head + 4 + length) return
      received = received.slice(head + 4 + length)
      socket.write(ANSWER)
    }
  })
}

const certificate = await certificateOf('127.0.0.1')
const servers = [createServer({ noDelay: true }, serve), createSecureServer(certificate, serve)]
const ports = servers.map(async (server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1024, resolve))
  return (server.address() as AddressInfo).port
})
const [http, https] = await Promise.all(ports)
process.stdout.write(`${JSON.stringify({ http, https, cert: certificate.cert })}\n`)
