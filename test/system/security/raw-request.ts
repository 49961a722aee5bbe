import { connect } from 'node:net'

export interface RawRequest {
  readonly method?: string
  readonly path: string
  readonly host?: string
  readonly headers?: readonly string[]
}

/** One request exactly as written, which no client library would send. */
export async function rawRequest(base: string, request: RawRequest): Promise<{ status: number; text: string }> {
  const { method = 'GET', path, host = 'gateway.test', headers = [] } = request
  const { hostname, port } = new URL(base)
  const socket = connect({ port: Number(port), host: hostname })
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers]
  socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
  socket.setTimeout(3000, () => socket.destroy(new Error(`no answer to ${method} ${path.slice(0, 100)}`)))
  const pieces: Buffer[] = []
  try {
    for await (const piece of socket) pieces.push(piece)
  } catch (error) {
    // A server may reset what it did not read whole; what it said before counts.
    if (pieces.length === 0) throw error
  }
  const text = Buffer.concat(pieces).toString('latin1')
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text }
}
