import { joinBytes } from '../lib/bytes.ts'
import type { Client, ClientStream } from '../pipeline/client.ts'
import { tooLarge } from './too-large.ts'

declare const IdentityTransformStream: {
  new (): { readonly readable: ReadableStream<Uint8Array>; readonly writable: WritableStream<Uint8Array> }
}

/** The far end of a call on Workers. */
export function workerClient(request: Request, waitUntil: (work: Promise<unknown>) => void): Client {
  return {
    signal: request.signal,
    address: request.headers.get('cf-connecting-ip') ?? '',
    defer: waitUntil,
    body: (limitBytes) => readBody(request, limitBytes),
    openStream,
  }
}

/** Native at both ends: a stream made in JavaScript would not outlive a client that leaves. */
function openStream(): ClientStream {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  return {
    readable,
    write: (bytes) => writer.write(bytes),
    close: () => writer.close(),
    abort: () => void writer.abort().catch(() => {}),
  }
}

async function readBody(request: Request, limitBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null) {
    if (Number(declared) > limitBytes) throw tooLarge(limitBytes)
    return new Uint8Array(await request.arrayBuffer())
  }
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of request.body ?? []) {
    length += piece.byteLength
    if (length > limitBytes) throw tooLarge(limitBytes)
    pieces.push(piece)
  }
  return joinBytes(pieces)
}
