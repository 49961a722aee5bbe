import { joinBytes } from '../lib/bytes.ts'
import { type Client, type ClientStream, clientClosed, type Upload } from '../pipeline/client.ts'
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
    upload: (limitBytes) => uploadOf(request, limitBytes),
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
    return new Uint8Array(await request.arrayBuffer().catch(left))
  }
  const upload = uploadOf(request, limitBytes)
  const pieces: Uint8Array[] = []
  try {
    for (let piece = await upload.read(); piece; piece = await upload.read()) pieces.push(piece)
  } finally {
    upload.close()
  }
  return joinBytes(pieces)
}

function uploadOf(request: Request, limitBytes: number): Upload {
  const announced = request.headers.get('content-length')
  const length = announced === null ? undefined : Number(announced)
  const reader = request.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined
  let received = 0
  const close = () => void reader?.cancel().catch(() => {})
  return {
    length,
    close,
    async read() {
      if (length !== undefined && length > limitBytes) throw tooLarge(limitBytes)
      for (;;) {
        const { value } = (await reader?.read().catch(left)) ?? {}
        if (value === undefined) return undefined
        received += value.byteLength
        if (received > limitBytes) throw tooLarge(limitBytes)
        if (value.byteLength > 0) return value
      }
    },
  }
}

function left(cause: unknown): never {
  throw clientClosed(cause)
}
