import type { IncomingMessage, ServerResponse } from 'node:http'
import { joinBytes } from '../lib/bytes.ts'
import { GatewayError } from '../lib/errors.ts'
import type { Client } from '../pipeline/client.ts'
import { pullStream } from './pull-stream.node.ts'
import { tooLarge } from './too-large.ts'

/** The far end of a call on Node: the socket's own events, without the cost of a Request's. */
export function nodeClient(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  defer: (work: Promise<unknown>) => void,
): Client {
  let controller: AbortController | undefined
  return {
    get signal() {
      if (!controller) {
        const made = new AbortController()
        controller = made
        const closed = () => {
          if (!outgoing.writableFinished) made.abort()
        }
        if (outgoing.destroyed || outgoing.closed) closed()
        else outgoing.once('close', closed)
      }
      return controller.signal
    },
    address: incoming.socket.remoteAddress ?? '',
    defer,
    body: (limitBytes) => readBody(incoming, limitBytes),
    openStream: () => pullStream(() => outgoing.destroy()),
  }
}

function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  if (Number(incoming.headers['content-length']) > limitBytes) return Promise.reject(tooLarge(limitBytes))
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = []
    let length = 0
    const take = (piece: Uint8Array) => {
      length += piece.byteLength
      if (length <= limitBytes) {
        pieces.push(piece)
        return
      }
      incoming.off('data', take)
      // What is still coming is thrown away, so that the client gets to read the answer.
      incoming.resume()
      reject(tooLarge(limitBytes))
    }
    incoming.on('data', take)
    incoming.once('end', () => resolve(joinBytes(pieces)))
    incoming.once('error', reject)
    incoming.once('close', () => {
      if (!incoming.readableEnded) reject(new GatewayError('client_closed', 'The client closed the connection.'))
    })
  })
}
