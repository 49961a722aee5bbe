import { discardRest } from './discard-rest.node.ts'
import type { Incoming, OutgoingAnswer } from './messages.node.ts'

/** The time and the bytes for which a client may continue to send after its answer has ended. */
const DRAIN_MS = 500
const DRAIN_BYTES = 64 * 1024 * 1024

/** Discards the unread rest of a request's body after the answer, so that the client reads the answer. Closes the
 *  connection if the client sends too much or for too long. Call it before the answer is sent. */
export function drainBody(incoming: Incoming, outgoing: OutgoingAnswer): void {
  if (incoming.readableEnded || incoming.method === 'GET' || incoming.method === 'HEAD') return
  outgoing.on('close', () => {
    if (incoming.readableEnded || incoming.destroyed) return
    let received = 0
    const close = () => incoming.socket.destroySoon()
    const timer = setTimeout(close, DRAIN_MS)
    incoming.on('data', (piece: Uint8Array) => {
      received += piece.byteLength
      if (received > DRAIN_BYTES) close()
    })
    incoming.on('end', () => clearTimeout(timer))
    incoming.on('close', () => clearTimeout(timer))
    discardRest(incoming)
  })
}
