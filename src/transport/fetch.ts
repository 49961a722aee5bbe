import { type Abort, asAbortSignal } from '../lib/abort.ts'
import type { Pieces } from '../lib/bytes/pieces.ts'
import { openHeaders } from './open-headers.ts'
import { readAll } from './read-all.ts'
import {
  RequestsSpent,
  type Transport,
  TransportError,
  type UpstreamBody,
  type UpstreamRequest,
  type UpstreamResponse,
} from './transport.ts'
import { wholeBody } from './whole-body.ts'

/** How Workers refuses a request beyond those that its plan allows an event. */
const REQUESTS_SPENT = /^Too many subrequests/

/** The transport of runtimes with a native `fetch`, such as Workers. `undecoded`: the codings of bodies that this `fetch`
 *  leaves as they are, and their names for a DecompressionStream. */
export function fetchTransport(undecoded: ReadonlyMap<string, CompressionFormat> = new Map()): Transport {
  return {
    async send(request: UpstreamRequest, abort: Abort): Promise<UpstreamResponse> {
      const signal = asAbortSignal(abort)
      let response: Response
      const sending = request.upload && sendingOf(request.upload)
      try {
        response = await fetch(request.origin + request.path, {
          method: request.method,
          headers: openHeaders(request.headers),
          body: (sending?.body ?? (request.body === undefined ? null : wholeBody(request.body))) as BodyInit | null,
          redirect: 'manual',
          ...(sending ? { duplex: 'half', signal: AbortSignal.any([signal, sending.broken.signal]) } : { signal }),
        })
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (sending?.broken.signal.aborted) throw sending.broken.signal.reason
        const Failure = REQUESTS_SPENT.test((error as Error).message) ? RequestsSpent : TransportError
        throw new Failure(`could not reach ${request.origin}`, { cause: error })
      }
      return {
        status: response.status,
        headers: recordOf(response.headers),
        body: bodyOf(response, plainBody(response, undecoded), signal, sending),
      }
    },
  }
}

/** Without the iterator of headers, each step of which enters the runtime. */
function recordOf(headers: Headers): Record<string, string> {
  const record: Record<string, string> = {}
  headers.forEach((value, name) => {
    record[name] = value
  })
  return record
}

interface Sending {
  readonly body: ReadableStream<Uint8Array>
  /** Aborted if the rest of the request cannot be read. */
  readonly broken: AbortController
}

/** Gives a stream a length, so that the request has a content-length. Exists only on Workers; other runtimes send
 *  chunks. */
declare const FixedLengthStream:
  | {
      new (
        length: number,
      ): { readonly readable: ReadableStream<Uint8Array>; readonly writable: WritableStream<Uint8Array> }
    }
  | undefined

function sendingOf(pieces: Pieces): Sending {
  let over = false
  const broken = new AbortController()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await pieces.read()
          if (over) return
          if (piece === undefined) controller.close()
          else controller.enqueue(piece)
        } catch (error) {
          // A failed stream would be sent as if it had ended: only an abort breaks off the call.
          broken.abort(error)
        }
      },
      cancel() {
        over = true
      },
    },
    // Nothing is read before the upstream accepts more.
    { highWaterMark: 0 },
  )
  if (pieces.length === undefined || typeof FixedLengthStream !== 'function') return { body: stream, broken }
  const fixed = new FixedLengthStream(pieces.length)
  // Failures are reported by `broken` or by the upstream.
  stream.pipeTo(fixed.writable).catch(() => {})
  return { body: fixed.readable, broken }
}

function plainBody({ headers, body }: Response, undecoded: ReadonlyMap<string, CompressionFormat>): Response['body'] {
  const format = undecoded.get(headers.get('content-encoding')?.trim().toLowerCase() ?? '')
  if (!format || !body) return body
  const decoder = new DecompressionStream(format) as ReadableWritablePair<Uint8Array, Uint8Array>
  return body.pipeThrough(decoder) as Response['body']
}

function bodyOf(
  response: Response,
  body: Response['body'],
  signal: AbortSignal,
  sending: Sending | undefined,
): UpstreamBody {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  function broken(cause: unknown): unknown {
    if (signal.aborted) return signal.reason
    if (sending?.broken.signal.aborted) return sending.broken.signal.reason
    return new TransportError('the upstream closed the connection before its answer ended', { cause })
  }
  async function read(): Promise<Uint8Array | undefined> {
    reader ??= body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined
    if (!reader) return undefined
    try {
      const piece = await reader.read()
      return piece.done ? undefined : piece.value
    } catch (error) {
      throw broken(error)
    }
  }
  function cancel(): void {
    const cancelled = reader ? reader.cancel() : body?.cancel()
    cancelled?.catch(() => {})
  }
  async function bytes(limitBytes: number, arrived?: (bytes: number) => void): Promise<Uint8Array> {
    // One turn of the runtime instead of one for each piece. Bodies of unknown length are counted while they arrive.
    if (reader || !(lengthOf(response) <= limitBytes)) return readAll({ read, cancel }, limitBytes, arrived)
    try {
      arrived?.(lengthOf(response))
    } catch (error) {
      cancel()
      throw error
    }
    try {
      return new Uint8Array(await response.arrayBuffer())
    } catch (error) {
      throw broken(error)
    }
  }
  return { read, cancel, bytes }
}

/** NaN where the length of the body is unknown: the content-length of a compressed body is another one. */
function lengthOf({ headers }: Response): number {
  const declared = headers.get('content-encoding') === null ? headers.get('content-length') : null
  return declared === null ? Number.NaN : Number(declared)
}
