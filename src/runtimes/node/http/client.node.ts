import type { IncomingMessage } from 'node:http'
import type { Abort } from '../../../lib/abort.ts'
import type { Footprint } from '../../../lib/footprints.ts'
import { gathering, release } from '../../../lib/forms/gathering.node.ts'
import { type Client, clientClosed, departure } from '../../../pipeline/client.ts'
import { tooLarge } from '../../too-large.ts'
import type { OpenAnswer } from './drain.node.ts'
import { continueBody } from './expectations.node.ts'
import { socketStream } from './socket-stream.node.ts'
import { temporaryFile } from './temporary-file.node.ts'
import { nodeUpload } from './upload.node.ts'

/** The far end of a call on Node: the socket's own events, without the cost of a Request's. */
export function nodeClient(
  incoming: IncomingMessage,
  answer: OpenAnswer,
  defer: (work: Promise<unknown>) => void,
): Client {
  const { outgoing, left: signal } = answer
  return {
    signal,
    address: incoming.socket.remoteAddress ?? '',
    defer,
    body(limitBytes, footprint) {
      continueBody(incoming, outgoing)
      return readBody(incoming, signal, { limitBytes, footprint })
    },
    upload(limitBytes) {
      continueBody(incoming, outgoing)
      return nodeUpload(incoming, signal, limitBytes)
    },
    ended(listener) {
      if (outgoing.closed) return listener()
      const { ended } = answer
      answer.ended = ended ? () => void [ended(), listener()] : listener
    },
    scratch: temporaryFile,
    openStream: () => socketStream(outgoing),
    discard(bytes) {
      if (bytes.byteLength > LARGE_BYTES) outgoing.once('finish', () => release(bytes))
    },
  }
}

/** Shorter answers cost the collector less than a listener does. */
const LARGE_BYTES = 65_536

function readBody(
  incoming: IncomingMessage,
  signal: Abort,
  { limitBytes, footprint }: { readonly limitBytes: number; readonly footprint: Footprint },
): Promise<Uint8Array> {
  const declared = Number(incoming.headers['content-length'])
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes))
  // Most bodies have come with their head: nothing has to be waited for.
  if (incoming.complete && !incoming.readableDidRead) {
    const bytes: Uint8Array = incoming.read() ?? new Uint8Array()
    if (bytes.byteLength > limitBytes) return Promise.reject(tooLarge(limitBytes))
    return counted(footprint, bytes.byteLength) ?? Promise.resolve(bytes)
  }
  // The client disconnected while its key was looked up, so no event follows.
  if (incoming.destroyed) return Promise.reject(clientClosed())
  return new Promise((resolve, reject) => {
    const gathered = gathering(declared)
    let length = 0
    const refuse = (error: unknown) => {
      incoming.off('data', take)
      // What is still coming is thrown away, so that the client gets to read the answer.
      incoming.resume()
      reject(error)
    }
    const take = (piece: Uint8Array) => {
      length += piece.byteLength
      if (length > limitBytes) return refuse(tooLarge(limitBytes))
      try {
        footprint.add(piece.byteLength)
      } catch (error) {
        return refuse(error)
      }
      gathered.take(piece)
    }
    incoming.on('data', take)
    incoming.on('end', () => resolve(gathered.bytes()))
    signal.addEventListener('abort', () => refuse(departure(signal)))
    // Where nobody listens for errors, this is all that one comes to.
    incoming.on('close', () => {
      if (!incoming.readableEnded) reject(clientClosed())
    })
  })
}

/** A rejection where there is no room. */
function counted(footprint: Footprint, bytes: number): Promise<never> | undefined {
  try {
    footprint.add(bytes)
    return undefined
  } catch (error) {
    return Promise.reject(error)
  }
}
