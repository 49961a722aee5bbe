import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** The far end of a sink on this machine: keeps what it gets, and answers as it is told. */
export interface SinkReceiver {
  readonly url: string
  readonly received: readonly Received[]
  /** What further requests are answered; a status of 0 is no answer at all. */
  answer(
    with_: (request: Received) => {
      readonly status: number
      readonly headers?: Record<string, string>
      readonly body?: string | Uint8Array
    },
  ): void
  /** Resolves once there are so many requests that are as awaited. */
  until(count: number, awaited?: (request: Received) => boolean): Promise<readonly Received[]>
  close(): Promise<void>
}

export async function startSinkReceiver(): Promise<SinkReceiver> {
  const received: Received[] = []
  let answering: Parameters<SinkReceiver['answer']>[0] = () => ({ status: 200 })
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, path: url, headers, body: Buffer.concat(pieces) }
      received.push(one)
      const { status, headers: own = {}, body = '' } = answering(one)
      if (status !== 0) response.writeHead(status, own).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (with_) => {
      answering = with_
    },
    async until(count, awaited = () => true) {
      const deadline = Date.now() + 15_000
      while (received.filter(awaited).length < count) {
        if (Date.now() > deadline) throw new Error(`only ${received.filter(awaited).length} of ${count} requests came`)
        await wait(10)
      }
      return received.filter(awaited)
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
