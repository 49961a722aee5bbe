import type { IncomingMessage, ServerResponse } from 'node:http'

/** How long, and how much, a client may go on sending after its answer has ended. */
const DRAIN_MS = 500
const DRAIN_BYTES = 64 * 1024 * 1024

/** To be called before an answer is sent. What nobody has read of its request is thrown away when it has ended, so that the
 *  client gets to read it; the connection of one that goes on and on is closed. */
export function drainBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
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
    incoming.on('end', () => clearTimeout(timer)).on('close', () => clearTimeout(timer))
    incoming.resume()
  })
}
