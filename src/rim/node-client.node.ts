import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Abort } from '../lib/abort.ts'
import { gathering, release } from '../lib/gathering.node.ts'
import { type Client, clientClosed } from '../pipeline/client.ts'
import { nodeUpload } from './node-upload.node.ts'
import { socketStream } from './socket-stream.node.ts'
import { temporaryFile } from './temporary-file.node.ts'
import { tooLarge } from './too-large.ts'

/** The far end of a call on Node: the socket's own events, without the cost of a Request's. */
export function nodeClient(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: Abort,
  defer: (work: Promise<unknown>) => void,
): Client {
  return {
    signal,
    address: incoming.socket.remoteAddress ?? '',
    defer,
    body: (limitBytes) => readBody(incoming, limitBytes),
    upload: (limitBytes) => nodeUpload(incoming, limitBytes),
    scratch: temporaryFile,
    openStream: () => socketStream(outgoing),
    discard(bytes) {
      if (bytes.byteLength > LARGE_BYTES) outgoing.once('finish', () => release(bytes))
    },
  }
}

/** Shorter answers cost the collector less than a listener does. */
const LARGE_BYTES = 65_536

function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  const declared = Number(incoming.headers['content-length'])
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes))
  // Most bodies have come with their head: nothing has to be waited for.
  if (incoming.complete && !incoming.readableDidRead) {
    const bytes: Uint8Array = incoming.read() ?? new Uint8Array()
    return bytes.byteLength > limitBytes ? Promise.reject(tooLarge(limitBytes)) : Promise.resolve(bytes)
  }
  // It has left while its key was looked up: nothing more is heard of it.
  if (incoming.destroyed) return Promise.reject(clientClosed())
  return new Promise((resolve, reject) => {
    const gathered = gathering(declared)
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
    incoming.on('end', () => resolve(gathered.bytes()))
    // Where nobody listens for errors, this is all that one comes to.
    incoming.on('close', () => {
      if (!incoming.readableEnded) reject(clientClosed())
    })
  })
}
