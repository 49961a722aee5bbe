import type { Abort } from '../../../lib/abort.ts'
import type { Footprint } from '../../../lib/footprints.ts'
import { gathering, release } from '../../../lib/forms/gathering.node.ts'
import { type Client, type ClientStream, clientClosed, departure, type Upload } from '../../../pipeline/client.ts'
import { tooLarge } from '../../too-large.ts'
import { discardRest } from './discard-rest.node.ts'
import type { OpenAnswer } from './drain.node.ts'
import { continueBody } from './expectations.node.ts'
import type { Incoming } from './messages.node.ts'
import { socketStream } from './socket-stream.node.ts'
import { nodeUpload } from './upload.node.ts'

interface NodeClient extends Client {
  readonly incoming: Incoming
  readonly answer: OpenAnswer
}

/** The client's connection on Node, by the socket's own events, which cost less than those of a Request. */
export function nodeClient(
  incoming: Incoming,
  answer: OpenAnswer,
  { defer, scratch }: Required<Pick<Client, 'defer' | 'scratch'>>,
): Client {
  // The functions are shared by all clients, so that one costs a single object.
  const client: NodeClient = {
    incoming,
    answer,
    signal: answer.left,
    address: incoming.socket.remoteAddress ?? '',
    defer,
    body,
    upload,
    ended,
    scratch,
    openStream,
    discard,
  }
  return client
}

function body(this: NodeClient, limitBytes: number, footprint: Footprint): Promise<Uint8Array> | Uint8Array {
  const { incoming, signal } = this
  continueBody(incoming)
  return readBody(incoming, signal, { limitBytes, footprint })
}

function upload(this: NodeClient, limitBytes: number): Upload {
  const { incoming, signal } = this
  continueBody(incoming)
  return nodeUpload(incoming, signal, limitBytes)
}

function ended(this: NodeClient, listener: () => void): void {
  const { answer } = this
  const { outgoing, ended: earlier } = answer
  if (outgoing.closed) listener()
  else answer.ended = earlier ? () => void [earlier(), listener()] : listener
}

function openStream(this: NodeClient): ClientStream {
  return socketStream(this.answer.outgoing)
}

function discard(this: NodeClient, bytes: Uint8Array): void {
  if (bytes.byteLength > LARGE_BYTES) this.answer.outgoing.once('finish', () => release(bytes))
}

/** The memory of shorter answers is not released: a listener costs more than the collector. */
const LARGE_BYTES = 65_536

function readBody(
  incoming: Incoming,
  signal: Abort,
  { limitBytes, footprint }: { readonly limitBytes: number; readonly footprint: Footprint },
): Promise<Uint8Array> | Uint8Array {
  const declared = Number(incoming.headers['content-length'])
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes))
  // Most bodies have arrived together with their head.
  if (incoming.complete && !incoming.readableDidRead) {
    const bytes: Uint8Array = incoming.read() ?? new Uint8Array()
    if (bytes.byteLength > limitBytes) return Promise.reject(tooLarge(limitBytes))
    return counted(footprint, bytes.byteLength) ?? bytes
  }
  // The client disconnected while its key was looked up, so no event follows.
  if (incoming.destroyed) return Promise.reject(clientClosed())
  // All of it is counted before any of it comes: of many long bodies some are received whole, instead of a part of each.
  const refused = declared > 0 ? counted(footprint, declared) : undefined
  if (refused) {
    discardRest(incoming)
    return refused
  }
  return new Promise((resolve, reject) => {
    const gathered = gathering(declared)
    let length = 0
    const refuse = (error: unknown) => {
      incoming.off('data', receive)
      gathered.discard()
      discardRest(incoming)
      reject(error)
    }
    const receive = (piece: Uint8Array) => {
      length += piece.byteLength
      if (length > limitBytes) return refuse(tooLarge(limitBytes))
      try {
        if (!(declared > 0)) footprint.add(piece.byteLength)
      } catch (error) {
        return refuse(error)
      }
      gathered.push(piece)
    }
    incoming.on('data', receive)
    incoming.on('end', () => resolve(gathered.bytes()))
    // What was received is the call's, whose bill is made after its client left.
    signal.addEventListener('abort', () => incoming.readableEnded || refuse(departure(signal)))
    // Without a listener for errors, an error only causes this event.
    incoming.on('close', () => {
      if (!incoming.readableEnded) reject(clientClosed())
    })
  })
}

/** Adds bytes to the footprint; a rejected promise if there is no memory for them. */
function counted(footprint: Footprint, bytes: number): Promise<never> | undefined {
  try {
    footprint.add(bytes)
    return undefined
  } catch (error) {
    return Promise.reject(error)
  }
}
