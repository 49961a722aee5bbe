import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { errorBody, failureAnswer } from '../../../api/failures.ts'
import { hasBody } from '../../../api/respond.ts'
import { latin1Text } from '../../../lib/bytes/latin1.ts'
import { asGatewayError, GatewayError } from '../../../lib/errors.ts'
import { describeError, type Log } from '../../../lib/log.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { drainBody } from './drain-body.node.ts'
import { expectsContinue } from './expectations.node.ts'

/** The router hands an answer through as it is. */
export const toResponse = (answer: Answer) => answer as unknown as Response

/** What answers a request: an Answer as it is, a Response where middleware has made one of it. */
export type Handling = (
  request: Request,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => Answer | Response | Promise<Answer | Response>

/** Node's requests and answers as they are: neither a Request nor a Response is made of them, of which a call needs next to
 *  nothing. */
export function requestListener(handle: Handling, log: Log): RequestListener {
  return async (incoming, outgoing) => {
    try {
      const url = urlOf(incoming.url ?? '')
      const answer =
        url === undefined ? failureAnswer(noTarget()) : await handle(requestOf(incoming, url), incoming, outgoing)
      // Whoever was not told to send its body may send it all the same, or not: nobody could tell its next request from it.
      if (expectsContinue(incoming)) outgoing.shouldKeepAlive = false
      drainBody(incoming, outgoing)
      await send(outgoing, answer)
    } catch (error) {
      log.error('answer.failed', { error: describeError(error) })
      if (outgoing.headersSent) outgoing.destroy()
      else send(outgoing, failureAnswer(asGatewayError(error)))
    }
  }
}

/** As much of a Request as the router and its middleware look at. */
function requestOf({ method, headers }: IncomingMessage, url: string): Request {
  return { method, url, headers: { get: (name: string) => headers[name.toLowerCase()] ?? null } } as unknown as Request
}

/** The host that a request names decides nothing. */
const ORIGIN = 'http://localhost'

const PLAIN_TARGET = /^\/[!#$&-;=?-[\]_a-z~]*$/
const DOT_SEGMENT = /\/\.\.?(?:[/?#]|$)/

/** What a request asks for, in the normal form of a URL; undefined where it has none. */
function urlOf(target: string): string | undefined {
  if (PLAIN_TARGET.test(target) && !DOT_SEGMENT.test(target)) return ORIGIN + target
  const path = target.split('?', 1)[0] as string
  // A parser makes slashes of them, and a path that nobody asked for.
  if (path.includes('\\')) return undefined
  const absolute = /^https?:\/\//.test(target) ? target : path.startsWith('/') ? ORIGIN + target : ''
  return URL.canParse(absolute) ? new URL(absolute).href : undefined
}

function noTarget(): GatewayError {
  return new GatewayError('invalid_request', 'The request names no valid path.', { code: 'invalid_path' })
}

const UNREADABLE: Readonly<Record<string, readonly [statusLine: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', "The request's headers are too long."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', "The request's chunk extensions are too long."],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
}

/** What is written to a connection over which came what is no request. */
export function unreadableAnswer({ code }: NodeJS.ErrnoException): string {
  const [statusLine, message] = UNREADABLE[code ?? ''] ?? ['400 Bad Request', 'This is not a valid HTTP request.']
  const body = JSON.stringify(errorBody(new GatewayError('invalid_request', message, { code: 'unreadable_request' })))
  return `HTTP/1.1 ${statusLine}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer | Response): Promise<void> | undefined {
  if (isOfResponse(headers)) outgoing.setHeaders(headers).writeHead(status)
  else {
    if (body instanceof Uint8Array && hasBody(status)) headers['content-length'] = String(body.byteLength)
    outgoing.writeHead(status, headers)
  }
  if (!(body instanceof ReadableStream)) {
    if (!(body instanceof Uint8Array)) outgoing.end(body)
    else if (body.byteLength > PIECE_BYTES) return writePieces(body, outgoing)
    else if (body.byteLength > SHORT_BYTES) outgoing.end(body)
    else outgoing.end(latin1Text(body), 'latin1')
    return undefined
  }
  outgoing.flushHeaders()
  return pump(body.getReader(), outgoing)
}

/** The class is not asked: its first mention makes Node load a whole fetch, 30 ms of the first answer. */
function isOfResponse(headers: Answer['headers'] | Headers): headers is Headers {
  return typeof headers.get === 'function'
}

/** A short answer goes with its head in one write: Node joins texts, and bytes only with a second write. */
const SHORT_BYTES = 16_384

/** A long answer goes piece by piece: how far its client is with one cannot be seen. */
const PIECE_BYTES = 262_144

async function writePieces(body: Uint8Array, outgoing: ServerResponse): Promise<void> {
  let wake: (() => void) | undefined
  const stir = () => wake?.()
  outgoing.on('drain', stir).on('close', stir)
  for (let from = 0; from < body.byteLength && !outgoing.destroyed; from += PIECE_BYTES) {
    const taken = outgoing.write(body.subarray(from, from + PIECE_BYTES))
    if (!taken && !outgoing.destroyed) await new Promise<void>((resolve) => (wake = resolve))
  }
  outgoing.end()
}

/** Writes a stream at the pace of the socket. A stream that fails breaks its answer off. */
async function pump(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  let wake: (() => void) | undefined
  const roomMade = () => wake?.()
  const left = () => {
    roomMade()
    reader.cancel().catch(() => {})
  }
  if (outgoing.destroyed) return left()
  outgoing.on('drain', roomMade)
  outgoing.on('close', left)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!outgoing.write(value) && !outgoing.destroyed) await new Promise<void>((resolve) => (wake = resolve))
    }
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}
