import { openHeaders } from './open-headers.ts'
import { readAll } from './read-all.ts'
import {
  type Transport,
  TransportError,
  type UpstreamBody,
  type UpstreamRequest,
  type UpstreamResponse,
} from './transport.ts'
import { wholeBody } from './whole-body.ts'

/** The transport of runtimes whose `fetch` is native: Workers. */
export function fetchTransport(): Transport {
  return {
    async send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResponse> {
      let response: Response
      try {
        response = await fetch(request.origin + request.path, {
          method: request.method,
          headers: openHeaders(request.headers),
          body: (request.body === undefined ? null : wholeBody(request.body)) as BodyInit | null,
          redirect: 'manual',
          signal,
        })
      } catch (error) {
        if (signal.aborted) throw signal.reason
        throw new TransportError(`could not reach ${request.origin}`, { cause: error })
      }
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: bodyOf(response, signal),
      }
    },
  }
}

function bodyOf(response: Response, signal: AbortSignal): UpstreamBody {
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined
  async function read(): Promise<Uint8Array | undefined> {
    if (!reader) return undefined
    try {
      const piece = await reader.read()
      return piece.done ? undefined : piece.value
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw new TransportError('the upstream closed the connection before its answer ended', { cause: error })
    }
  }
  function cancel(): void {
    reader?.cancel().catch(() => {})
  }
  return { read, cancel, bytes: (limitBytes) => readAll({ read, cancel }, limitBytes) }
}
