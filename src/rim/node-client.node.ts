import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Aborter, newAbort } from '../lib/abort.ts'
import { joinBytes } from '../lib/bytes.ts'
import { GatewayError } from '../lib/errors.ts'
import type { Client } from '../pipeline/client.ts'
import { nodeUpload } from './node-upload.node.ts'
import { pullStream } from './pull-stream.node.ts'
import { temporaryFile } from './temporary-file.node.ts'
import { tooLarge } from './too-large.ts'

/** The far end of a call on Node: the socket's own events, without the cost of a Request's. `open` holds what ends the
 *  calls that run. */
export function nodeClient(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  defer: (work: Promise<unknown>) => void,
  open: Set<Aborter<GatewayError>>,
): Client {
  let left: Aborter<GatewayError> | undefined
  return {
    get signal() {
      if (!left) {
        const made = newAbort<GatewayError>()
        left = made
        open.add(made)
        const closed = () => {
          open.delete(made)
          if (!outgoing.writableFinished) made.abort()
        }
        if (outgoing.destroyed || outgoing.closed) closed()
        else outgoing.once('close', closed)
      }
      return left
    },
    address: incoming.socket.remoteAddress ?? '',
    defer,
    body: (limitBytes) => readBody(incoming, limitBytes),
    upload: (limitBytes) => nodeUpload(incoming, limitBytes),
    scratch: temporaryFile,
    openStream: () => pullStream(() => outgoing.destroy()),
  }
}

/** Memory is set aside for a body that is declared no longer than this, before more than its beginning has come. */
const BELIEVED_BYTES = 8 * 1024 * 1024

function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  const declared = Number(incoming.headers['content-length'])
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes))
  return new Promise((resolve, reject) => {
    const gathered = declared > 0 && declared <= BELIEVED_BYTES ? whole(declared) : inPieces()
    let length = 0
    const take = (piece: Uint8Array) => {
      length += piece.byteLength
      if (length <= limitBytes) {
        gathered.take(piece)
        return
      }
      incoming.off('data', take)
      // What is still coming is thrown away, so that the client gets to read the answer.
      incoming.resume()
      reject(tooLarge(limitBytes))
    }
    incoming.on('data', take)
    incoming.once('end', () => resolve(gathered.bytes()))
    incoming.once('error', reject)
    incoming.once('close', () => {
      if (!incoming.readableEnded) reject(new GatewayError('client_closed', 'The client closed the connection.'))
    })
  })
}

interface Gathering {
  take(piece: Uint8Array): void
  bytes(): Uint8Array
}

function inPieces(): Gathering {
  const pieces: Uint8Array[] = []
  return { take: (piece) => pieces.push(piece), bytes: () => joinBytes(pieces) }
}

/** A body of known length, filled as it comes; node's parser lets no more arrive. */
function whole(length: number): Gathering {
  let body: Buffer | undefined
  let only: Uint8Array | undefined
  let filled = 0
  return {
    take(piece) {
      if (piece.byteLength === length) {
        only = piece
        return
      }
      body ??= Buffer.allocUnsafeSlow(length)
      body.set(piece, filled)
      filled += piece.byteLength
      release(piece)
    },
    // Of memory that held something else before, only what was written.
    bytes: () => only ?? body?.subarray(0, filled) ?? new Uint8Array(),
  }
}

/** Gives the memory of a copied piece back. Left to the collector, large bodies would have it mark the whole heap again
 *  and again. */
function release(piece: Uint8Array): void {
  const { buffer } = piece
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.byteLength) buffer.transfer(0)
}
