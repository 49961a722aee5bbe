import { openHeaders } from '../open-headers.ts'
import type { UpstreamRequest } from '../transport.ts'

const PATH = /^\/[\x21-\x7e\x80-\xff]*$/
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/
/** Headers that say how a request is sent. */
const OF_THE_CONNECTION =
  /^(?:host|connection|keep-alive|proxy-connection|content-length|transfer-encoding|upgrade|te|trailer|expect)$/i

/** The head of a request that is sent as it is; undefined if it has anything that a plain request has not. */
export function requestHead(request: UpstreamRequest, authority: string, bodyBytes: number): string | undefined {
  const { method, path } = request
  const hasBody = method === 'POST' || method === 'PUT'
  if (!PATH.test(path) || (bodyBytes > 0 && !hasBody)) return undefined
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\nconnection: keep-alive\r\n`
  const headers = openHeaders(request.headers)
  for (const name in headers) {
    const value = headers[name] as string
    if (!NAME.test(name) || OF_THE_CONNECTION.test(name) || NOT_IN_VALUES.test(value)) return undefined
    head += `${name}: ${value}\r\n`
  }
  return hasBody ? `${head}content-length: ${bodyBytes}\r\n\r\n` : `${head}\r\n`
}
