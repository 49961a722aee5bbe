import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface PostgresLine {
  /** The server's address with this line's port. */
  readonly url: string
  /** Every statement that went through, at each time that it was run. */
  readonly statements: readonly string[]
  close(): Promise<void>
}

/** A TCP line to a PostgreSQL server that reads along: a statement is a query, or a bound prepared one. */
export async function postgresLine(target: string): Promise<PostgresLine> {
  const { hostname, port } = new URL(target)
  const statements: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    const read = reader(statements)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    near.on('data', (bytes) => {
      read(bytes)
      far.write(bytes)
    })
    far.on('data', (bytes) => near.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: Object.assign(new URL(target), { port: String((server.address() as AddressInfo).port) }).href,
    statements,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const [PARSE, BIND, QUERY] = [0x50, 0x42, 0x51]

/** One connection's half of the protocol: after the startup packet, a type byte, a length that counts itself, a body. */
function reader(statements: string[]): (bytes: Buffer) => void {
  const prepared = new Map<string, string>()
  let pending: Buffer = Buffer.alloc(0)
  let started = false
  return (bytes) => {
    pending = Buffer.concat([pending, bytes])
    for (;;) {
      const typed = started ? 1 : 0
      if (pending.length < typed + 4) return
      const end = typed + pending.readInt32BE(typed)
      if (pending.length < end) return
      const [type, body] = [pending[0], pending.subarray(typed + 4, end)]
      pending = pending.subarray(end)
      if (!started) started = true
      else if (type === QUERY) statements.push(textAt(body, 0).text)
      else if (type === PARSE) {
        const name = textAt(body, 0)
        prepared.set(name.text, textAt(body, name.next).text)
      } else if (type === BIND) {
        statements.push(prepared.get(textAt(body, textAt(body, 0).next).text) ?? 'unknown')
      }
    }
  }
}

function textAt(body: Buffer, from: number): { readonly text: string; readonly next: number } {
  const end = body.indexOf(0, from)
  return { text: body.toString('utf8', from, end), next: end + 1 }
}
