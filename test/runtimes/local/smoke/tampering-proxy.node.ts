import { createServer, request as httpRequest, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Passing {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What lies between a client and its gateway, and what it does wrong. Without anything it passes all on at once. */
export interface Tampering {
  /** Answers in the gateway's place. */
  instead?(to: string): Passing | undefined
  /** Changes a whole answer, which it holds back until it has all of it. */
  change?(to: string, answer: Passing): Passing
  /** Does not tell the gateway that a client has left. */
  readonly keepsTheDead?: true
}

export interface TamperingProxy {
  readonly url: string
  tamper(how: Tampering): void
  close(): Promise<void>
}

export async function tamperingProxy(target: string): Promise<TamperingProxy> {
  let how: Tampering = {}
  const server = createServer((request, response) => {
    const to = `${request.method} ${request.url?.split('?')[0]}`
    const own = how.instead?.(to)
    if (own) return answer(response, own)
    const { change, keepsTheDead } = how
    const onward = httpRequest(
      target + request.url,
      { method: request.method, headers: request.headers, agent: false },
      (incoming) => {
        const pieces: Buffer[] = []
        if (!change) response.writeHead(incoming.statusCode ?? 0, incoming.headers)
        incoming.on('error', () => response.destroy())
        incoming.on('data', (piece: Buffer) => (change ? pieces.push(piece) : response.write(piece)))
        incoming.on('end', () => {
          if (!change) return response.end()
          const whole = { status: incoming.statusCode ?? 0, headers: incoming.headers }
          return answer(response, change(to, { ...whole, body: Buffer.concat(pieces).toString() }))
        })
      },
    )
    onward.on('error', () => response.destroy())
    response.on('close', () => {
      if (!keepsTheDead && !response.writableFinished) onward.destroy()
    })
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tamper(next) {
      how = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(response: ServerResponse, { status, headers, body }: Passing): void {
  const { 'content-length': _, 'transfer-encoding': __, ...others } = headers
  response.sendDate = others.date === undefined
  response.writeHead(status, others).end(body)
}
