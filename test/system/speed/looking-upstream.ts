import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { REPLY, STREAM } from '../../bench/wire.ts'

export interface LookingUpstream {
  readonly url: string
  /** What `look` told at each call that arrived, before it was answered. */
  readonly arrivals: unknown[]
  /** Asked while a call is held. */
  look: (() => Promise<unknown>) | undefined
  close(): Promise<void>
}

/** A far end that holds each call until somebody has looked at what was done until it came. The model `fails` fails. */
export async function lookingUpstream(): Promise<LookingUpstream> {
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const { model, stream } = JSON.parse(await textOf(request)) as { model: string; stream?: boolean }
    if (upstream.look) upstream.arrivals.push(await upstream.look())
    if (model === 'fails') {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"no","type":"x"}}')
    } else if (stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const frame of STREAM) response.write(frame)
      response.end()
    } else {
      response.writeHead(200, { 'content-type': 'application/json' }).end(REPLY)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const upstream: LookingUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals: [],
    look: undefined,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) text += piece
  return text
}
