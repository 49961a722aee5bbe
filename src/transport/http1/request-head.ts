import { HEADER_NAME, HEADER_VALUE } from '../../lib/bytes/header-text.ts'
import { openHeaders } from '../open-headers.ts'
import type { UpstreamRequest } from '../transport.ts'

const PATH = /^\/[\x21-\x7e\x80-\xff]*$/
/** Headers that say how a request is sent. */
const OF_THE_CONNECTION =
  /^(?:host|connection|keep-alive|proxy-connection|content-length|transfer-encoding|upgrade|te|trailer|expect)$/i

/** How many heads are kept for an origin: the headers of a deployment are the same for each of its calls. */
const KEPT_HEADS = 16

/** A head without the length of a body. */
interface KeptHead {
  readonly request: Pick<UpstreamRequest, 'method' | 'path' | 'headers'>
  readonly text: string | undefined
}

/** Writes the heads of requests to an origin. */
export type HeadWriter = (request: UpstreamRequest, bodyBytes: number) => string | undefined

/** Writes the head of a request to an origin, which is sent as it is; undefined if the request has anything that a plain
 *  one has not. */
export function headWriter(authority: string): HeadWriter {
  const kept: KeptHead[] = []
  let oldest = 0

  function withoutLength(request: UpstreamRequest): string | undefined {
    const { method, path, headers } = request
    for (const { request: same, text } of kept)
      if (same.headers === headers && same.path === path && same.method === method) return text
    const text = written(request, authority)
    kept[oldest] = { request: { method, path, headers }, text }
    oldest = (oldest + 1) % KEPT_HEADS
    return text
  }

  return (request, bodyBytes) => {
    const hasBody = request.method === 'POST' || request.method === 'PUT'
    const head = bodyBytes > 0 && !hasBody ? undefined : withoutLength(request)
    if (head === undefined) return undefined
    return hasBody ? `${head}content-length: ${bodyBytes}\r\n\r\n` : `${head}\r\n`
  }
}

function written({ method, path, headers: sealed }: UpstreamRequest, authority: string): string | undefined {
  if (!PATH.test(path)) return undefined
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${authority}`, 'connection: keep-alive']
  for (const [name, value] of Object.entries(openHeaders(sealed))) {
    if (!HEADER_NAME.test(name) || OF_THE_CONNECTION.test(name) || !HEADER_VALUE.test(value)) return undefined
    lines.push(`${name}: ${value}`)
  }
  // Joined, it is one piece of memory, which a text that grew by additions is not.
  return [...lines, ''].join('\r\n')
}
