import type { Abort } from '../../lib/abort.ts'
import { incomingAnswer } from '../incoming-answer.node.ts'
import { type RequestBody, type Transport, TransportError, type UpstreamRequest } from '../transport.ts'
import { type Connection, openConnection, type Pool } from './connection.node.ts'
import { requestHead } from './request-head.ts'

/** Sends plain requests itself: over HTTP/1.1 to an `http:` origin, with a whole body. Everything else goes to `others`. A
 *  request is sent once, whatever becomes of its connection. */
export function http1Transport(others: Transport): Transport & { close(): Promise<void> } {
  // As many as there are origins among the deployments.
  const pools = new Map<string, Pool>()
  /** What is sent in this turn of the event loop. */
  let soon: (() => void)[] = []
  let closed = false

  function poolOf(origin: string): Pool {
    const known = pools.get(origin)
    if (known) return known
    const { hostname, port, host: authority } = new URL(origin)
    const host = hostname.replace(/^\[|\]$/g, '')
    const pool = { origin, authority, host, port: Number(port || 80), all: new Set<Connection>(), resting: [] }
    pools.set(origin, pool)
    return pool
  }

  function sendAll(): void {
    const all = soon
    soon = []
    for (const send of all) send()
  }

  return {
    send(request: UpstreamRequest, signal: Abort) {
      const { origin, publicOnly, upload } = request
      if (publicOnly || upload || closed || !origin.startsWith('http://')) return others.send(request, signal)
      const body = piecesOf(request.body)
      const bodyBytes = body.reduce((sum, piece) => sum + piece.byteLength, 0)
      const pool = poolOf(origin)
      const head = requestHead(request, pool.authority, bodyBytes)
      if (head === undefined) return others.send(request, signal)
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const answer = incomingAnswer(signal, resolve, reject)
        const sendNow = () => {
          if (closed) answer.fail(shutDown())
          else if (!answer.over) (pool.resting.pop() ?? openConnection(pool)).send(head, body, bodyBytes, answer)
        }
        // What a resting connection brings unasked, or its end, is read before a request goes out on it.
        if (pool.resting.length === 0) sendNow()
        else if (soon.push(sendNow) === 1) setImmediate(sendAll)
      })
    },
    async close() {
      closed = true
      for (const { all } of pools.values()) for (const connection of all) connection.abort(shutDown())
    },
  }
}

function piecesOf(body: RequestBody | undefined): readonly Uint8Array[] {
  if (body === undefined) return []
  if (typeof body === 'string') return [Buffer.from(body)]
  return body instanceof Uint8Array ? [body] : body
}

function shutDown(): TransportError {
  return new TransportError('the gateway is being shut down')
}
