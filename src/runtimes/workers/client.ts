import { joinBytes } from '../../lib/bytes/bytes.ts'
import type { Footprint } from '../../lib/footprints.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import { type Client, type ClientStream, clientClosed, type Upload, unsent, untaken } from '../../pipeline/client.ts'
import { tooLarge } from '../too-large.ts'

interface NativeStream {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
}
declare const IdentityTransformStream: { new (): NativeStream }
declare const FixedLengthStream: { new (length: number): NativeStream }

/** The time limit of a body of known length, as on Node. It is read as a whole, so that a stall cannot be seen. */
const BODY_MS = 300_000

export interface WorkerClient extends Client {
  /** Call it when the answer has been passed to the runtime. */
  answered(): void
}

/** The client's connection on Workers. */
export function workerClient(
  request: Request,
  waitUntil: (work: Promise<unknown>) => void,
  stallMs: number,
): WorkerClient {
  let listeners: (() => void)[] | undefined = []
  let streams = false
  const end = () => {
    const calls = listeners ?? []
    listeners = undefined
    for (const listener of calls) listener()
  }
  request.signal.addEventListener('abort', end)
  return {
    signal: request.signal,
    address: request.headers.get('cf-connecting-ip') ?? '',
    defer: waitUntil,
    body: (limitBytes, footprint) => readBody(request, { limitBytes, footprint, stallMs }),
    upload: (limitBytes) => uploadOf(request, limitBytes, stallMs),
    openStream(length) {
      streams = true
      return openStream(length, stallMs, end)
    },
    ended(listener) {
      if (listeners) listeners.push(listener)
      else listener()
    },
    answered() {
      if (!streams) end()
    },
  }
}

/** The stream is native: writes to a stream of JavaScript would stop when the client disconnects. */
function openStream(length: number | undefined, stallMs: number, ended: () => void): ClientStream {
  const { readable, writable } = length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length)
  const writer = writable.getWriter()
  let writingSince: number | undefined
  const written = () => {
    writingSince = undefined
  }
  const end = () => {
    clearInterval(watch)
    ended()
  }
  const abort = (reason?: unknown) => {
    end()
    writer.abort(reason).catch(() => {})
  }
  const watch = setInterval(() => {
    if (writingSince !== undefined && performance.now() - writingSince >= stallMs) abort(untaken())
  }, stallMs / 4)
  return {
    readable,
    write(bytes) {
      writingSince ??= performance.now()
      const writing = writer.write(bytes)
      writing.then(written, end)
      return writing
    },
    close: () => writer.close().finally(end),
    abort: () => abort(),
  }
}

interface Reading {
  readonly limitBytes: number
  readonly footprint: Footprint
  readonly stallMs: number
}

async function readBody(request: Request, { limitBytes, footprint, stallMs }: Reading): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null) {
    if (Number(declared) > limitBytes) throw tooLarge(limitBytes)
    footprint.add(Number(declared))
    const read = await atMost(BODY_MS, request.arrayBuffer().catch(rejectClosed))
    if (!read) throw unsent()
    return new Uint8Array(read.value)
  }
  const upload = uploadOf(request, limitBytes, stallMs)
  const pieces: Uint8Array[] = []
  try {
    for (let piece = await upload.read(); piece; piece = await upload.read()) {
      footprint.add(piece.byteLength)
      pieces.push(piece)
    }
  } finally {
    upload.close()
  }
  return joinBytes(pieces)
}

function uploadOf(request: Request, limitBytes: number, stallMs: number): Upload {
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
        const read = reader ? await atMost(stallMs, reader.read().catch(rejectClosed)) : { value: { value: undefined } }
        if (!read) throw unsent()
        const { value } = read.value
        if (value === undefined) return undefined
        received += value.byteLength
        if (received > limitBytes) throw tooLarge(limitBytes)
        if (value.byteLength > 0) return value
      }
    },
  }
}

function rejectClosed(cause: unknown): never {
  throw clientClosed(cause)
}
