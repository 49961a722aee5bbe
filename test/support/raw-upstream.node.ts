import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate } from './certificate.node.ts'

/** One request byte for byte: its head with the empty line, and its body as it was framed. */
export interface RawRequest {
  readonly head: string
  readonly body: string
}

/** One connection of a client, seen from its far end. */
export interface RawConnection {
  /** The TCP socket. */
  readonly socket: Socket
  /** What comes in plain text: the TCP socket, or TLS over it. */
  readonly stream: Socket
  /** What the client has sent so far, in plain text. */
  received(): string
  /** Resolves with the next whole request; undefined once the client has closed the connection. */
  request(): Promise<RawRequest | undefined>
  /** Writes exactly these bytes, a turn of the event loop after each piece. Resolves when the system has taken them, or
   *  the connection is gone. */
  send(...pieces: (string | Uint8Array)[]): Promise<void>
  /** Ends the own direction of the connection, behind what was sent. */
  end(): void
  /** Resolves when the client has ended its direction of the connection, or the connection is gone. */
  readonly closed: Promise<void>
}

/** An upstream over bare TCP or TLS, which answers byte for byte as its test says. */
export interface RawUpstream {
  readonly origin: string
  /** In the order in which they were accepted. */
  readonly connections: readonly RawConnection[]
  /** How many whole requests were taken, over all connections. */
  requests(): number
  close(): Promise<void>
}

/** Starts an upstream that does with each connection what it is told. */
export async function rawUpstream(
  serve: (connection: RawConnection, index: number) => Promise<unknown>,
  certificate?: Certificate,
): Promise<RawUpstream> {
  const connections: RawConnection[] = []
  let requests = 0
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const secured = certificate && new TLSSocket(socket, { isServer: true, ...certificate })
    const connection = connectionOver(socket, secured ?? socket, () => (requests += 1))
    connections.push(connection)
    // The client's end is answered by the own one, as soon as the test has nothing more to do.
    serve(connection, connections.length - 1).then(
      async () => {
        while (await connection.request());
        connection.end()
      },
      () => socket.destroy(),
    )
  })
  server.listen(0, '127.0.0.1', 4096)
  await once(server, 'listening')
  return {
    origin: `${certificate ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    requests: () => requests,
    async close() {
      for (const { socket } of connections) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function connectionOver(socket: Socket, stream: Socket, came: () => void): RawConnection {
  let received = ''
  let taken = 0
  let ended = false
  let wake: (() => void) | undefined
  const awake = () => {
    wake?.()
    wake = undefined
  }
  stream.on('data', (bytes) => {
    received += bytes.toString('latin1')
    awake()
  })
  const closed = new Promise<void>((resolve) => {
    for (const one of new Set([socket, stream])) {
      for (const event of ['end', 'error', 'close']) {
        one.on(event, () => {
          ended = true
          awake()
          resolve()
        })
      }
    }
  })
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return {
    socket,
    stream,
    closed,
    received: () => received,
    async request() {
      for (;;) {
        const whole = requestIn(received.slice(taken))
        if (whole) {
          taken += whole.head.length + whole.body.length
          came()
          return whole
        }
        if (ended) return undefined
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    async send(...pieces) {
      for (const piece of pieces) {
        if (stream.destroyed || stream.writableEnded) return
        const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece
        await Promise.race([gone, new Promise((resolve) => stream.write(bytes, resolve))])
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    end: () => void stream.end(),
  }
}

/** The first whole request in these bytes. */
function requestIn(received: string): RawRequest | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = received.slice(0, headEnd + 4)
  const rest = received.slice(head.length)
  if (/^transfer-encoding: *chunked\r$/im.test(head)) {
    const length = chunkedLength(rest)
    return length === undefined ? undefined : { head, body: rest.slice(0, length) }
  }
  const length = Number(/^content-length: *(\d+)\r$/im.exec(head)?.[1] ?? 0)
  return rest.length < length ? undefined : { head, body: rest.slice(0, length) }
}

/** The length of a whole body in chunks without trailers, with its framing; undefined before its end has come. */
function chunkedLength(text: string): number | undefined {
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = Number.parseInt(text.slice(at, line), 16)
    at = line + 2 + size + 2
    if (Number.isNaN(size)) throw new Error(`no size of a chunk: ${text.slice(at, line)}`)
    if (at > text.length) return undefined
    if (size === 0) return at
  }
}
