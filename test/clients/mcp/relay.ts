import { request as ask, createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MASTER_KEY } from '../../support/gateway.ts'
import type { FarEnd } from './conformance-tools.ts'

/** Stands in front of the gateway for a client that knows neither its key nor its names: adds the key to each request,
 *  and takes the server's key off the names of tools. All else goes through as it is. */
export async function startRelay(gateway: string, serverKey: string): Promise<FarEnd> {
  const prefix = `${serverKey}__`
  const relay = createServer(async (request, response) => {
    const sent = renamed(await bodyOf(request), prefix)
    const headers = { ...request.headers, authorization: `Bearer ${MASTER_KEY}` }
    const forwarded = ask(`${gateway}/mcp`, {
      method: request.method,
      headers: { ...headers, 'content-length': sent.length },
    })
    forwarded.on('error', () => response.destroy())
    forwarded.on('response', (answer) => {
      const { 'content-length': _, ...head } = answer.headers
      response.writeHead(answer.statusCode ?? 500, head)
      // Names of tools stand in lists alone, which are not cut.
      answer.on('data', (piece: Buffer) => response.write(piece.toString().replaceAll(`"name":"${prefix}`, '"name":"')))
      answer.on('end', () => response.end())
    })
    forwarded.end(sent)
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}/mcp`,
    close: () => new Promise((resolve) => relay.close(() => resolve())),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await request.toArray()).toString()
}

function renamed(body: string, prefix: string): Buffer {
  try {
    const message = JSON.parse(body)
    if (message.method === 'tools/call') message.params.name = prefix + message.params.name
    return Buffer.from(JSON.stringify(message))
  } catch {
    return Buffer.from(body)
  }
}
