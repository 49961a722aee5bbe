import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HttpLine {
  /** The target's address with this line's port. */
  readonly url: string
  /** The bodies of all requests so far, each one round trip. */
  readonly bodies: readonly string[]
  close(): Promise<void>
}

/** A line to an HTTP server that keeps what is posted. */
export async function httpLine(target: string): Promise<HttpLine> {
  const bodies: string[] = []
  const agent = new Agent({ keepAlive: true })
  const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, outgoing) => {
    const body = await bodyOf(incoming)
    bodies.push(body.toString())
    const { pathname } = new URL(incoming.url ?? '/', target)
    const path = pathname === '/' ? new URL(target).pathname : pathname
    const headers = { ...incoming.headers, 'content-length': body.byteLength, host: new URL(target).host }
    delete (headers as Record<string, unknown>)['transfer-encoding']
    request(new URL(path, target), { method: incoming.method ?? 'POST', headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
      .on('error', () => outgoing.destroy())
      .end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: Object.assign(new URL(target), { port: String((server.address() as AddressInfo).port) }).href.replace(
      /\/$/,
      '',
    ),
    bodies,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      agent.destroy()
    },
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of incoming as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces)
}
