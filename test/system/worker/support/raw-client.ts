import { connect, type Socket } from 'node:net'

/** One HTTP request on a bare connection, so that a test decides how the connection ends. */
export interface RawClient {
  readonly socket: Socket
  /** What came so far. */
  received(): string
  /** Resolves when what came holds this text. */
  until(text: string, timeoutMs?: number): Promise<void>
  /** Ends the connection with a RST, as a crashed client or a lost network does. */
  reset(): void
}

export function rawClient(port: number, request: { head: readonly string[]; body: string }): RawClient {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  const head = [...request.head, 'host: gateway.test', `content-length: ${Buffer.byteLength(request.body)}`]
  socket.write(`${head.join('\r\n')}\r\n\r\n${request.body}`)
  return {
    socket,
    received: () => text,
    async until(wanted, timeoutMs = 5000) {
      const deadline = Date.now() + timeoutMs
      while (!text.includes(wanted)) {
        if (Date.now() > deadline) throw new Error(`'${wanted}' did not come within ${timeoutMs} ms, but: ${text}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    reset: () => socket.resetAndDestroy(),
  }
}
