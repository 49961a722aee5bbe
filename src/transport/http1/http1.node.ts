import type { Abort } from '../../lib/abort.ts'
import { afterReads } from '../../lib/timers/after-reads.node.ts'
import { incomingAnswer } from '../incoming-answer.node.ts'
import { type RequestBody, type Transport, TransportError, type UpstreamRequest } from '../transport.ts'
import { type Http1Connection, openConnection, type Pool, type Sending } from './connection.node.ts'
import { type HeadWriter, headWriter } from './request-head.ts'

interface Origin extends Pool {
  readonly headOf: HeadWriter
}

/** Sends plain requests itself: over HTTP/1.1 to an `http:` origin, with a whole body. Everything else goes to `others`. A
 *  request is sent once, whatever becomes of its connection. */
export function http1Transport(others: Transport): Transport & { close(): Promise<void> } {
  // As many as there are origins among the deployments.
  const origins = new Map<string, Origin>()
  let closed = false

  function originOf(origin: string): Origin {
    const known = origins.get(origin)
    if (known) return known
    const { hostname, port, host: authority } = new URL(origin)
    const host = hostname.replace(/^\[|\]$/g, '')
    const connections = { all: new Set<Http1Connection>(), resting: [] }
    const made = { origin, host, port: Number(port || 80), ...connections, headOf: headWriter(authority) }
    origins.set(origin, made)
    return made
  }

  function send(to: Pool, sending: Sending): void {
    const { answer } = sending
    if (closed) answer.fail(shutDown())
    else if (!answer.over) (to.resting.pop() ?? openConnection(to)).send(sending)
  }

  return {
    send(request: UpstreamRequest, signal: Abort) {
      const { origin, publicOnly, upload } = request
      if (publicOnly || upload || closed || !origin.startsWith('http://')) return others.send(request, signal)
      const to = originOf(origin)
      const body = piecesOf(request.body)
      const bodyBytes = lengthOf(body)
      const head = to.headOf(request, bodyBytes)
      if (head === undefined) return others.send(request, signal)
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const sending = { head, body, bodyBytes, answer: incomingAnswer(signal, resolve, reject) }
        // What a resting connection brings unasked, or its end, is read before a request goes out on it.
        if (to.resting.length === 0) send(to, sending)
        else afterReads(() => send(to, sending))
      })
    },
    async close() {
      closed = true
      for (const { all } of origins.values()) for (const connection of all) connection.abort(shutDown())
    },
  }
}

function piecesOf(body: RequestBody | undefined): readonly Uint8Array[] {
  if (body === undefined) return []
  if (typeof body === 'string') return [Buffer.from(body)]
  return body instanceof Uint8Array ? [body] : body
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  let length = 0
  for (const { byteLength } of pieces) length += byteLength
  return length
}

function shutDown(): TransportError {
  return new TransportError('the gateway is being shut down')
}
