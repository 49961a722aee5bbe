import type { Secret } from '../../lib/secret.ts'
import type { Transport, UpstreamBody } from '../../transport/transport.ts'

const WORDS_BYTES = 16_384

/** What passed through a transport last. */
export interface Seen {
  /** Where the request went, without its query; null before the first. */
  address: string | null
  status: number | null
  contentType: string
  /** The beginning of the answer. */
  readonly beginning: Uint8Array[]
  /** The headers of all requests, with their credentials. */
  headers: Record<string, string | Secret>
}

/** A transport that notes what it sends and what comes back. */
export function watchedTransport(transport: Transport): { readonly seen: Seen; readonly transport: Transport } {
  const seen: Seen = { address: null, status: null, contentType: '', beginning: [], headers: {} }
  return {
    seen,
    transport: {
      async send(request, signal) {
        seen.address = request.origin + request.path.replace(/\?.*$/s, '')
        seen.status = null
        seen.headers = { ...seen.headers, ...request.headers }
        seen.beginning.length = 0
        const response = await transport.send(request, signal)
        seen.status = response.status
        seen.contentType = response.headers['content-type'] ?? ''
        return { ...response, body: watchedBody(response.body, seen.beginning) }
      },
    },
  }
}

function watchedBody(body: UpstreamBody, beginning: Uint8Array[]): UpstreamBody {
  let left = WORDS_BYTES
  const note = (piece: Uint8Array | undefined) => {
    if (!piece || left <= 0) return
    // A copy: the piece may be memory that others use again.
    beginning.push(piece.slice(0, left))
    left -= piece.byteLength
  }
  return {
    async read() {
      const piece = await body.read()
      note(piece)
      return piece
    },
    async bytes(limitBytes, arrived) {
      const whole = await body.bytes(limitBytes, arrived)
      note(whole)
      return whole
    },
    cancel: () => body.cancel(),
  }
}
