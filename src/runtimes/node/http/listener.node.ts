import { failureAnswer } from '../../../api/failures.ts'
import { hasBody } from '../../../api/respond.ts'
import { latin1Text } from '../../../lib/bytes/latin1.ts'
import { asGatewayError, GatewayError } from '../../../lib/errors.ts'
import { describeError, type Log } from '../../../lib/log.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { drainBody } from './drain-body.node.ts'
import { expectsContinue } from './expectations.node.ts'
import type { Incoming, Listener, OutgoingAnswer } from './messages.node.ts'
import { rawAnswer } from './raw-answer.node.ts'

/** The router passes an Answer through unchanged, so that no Response needs to be created. */
export const toResponse = (answer: Answer) => answer as unknown as Response

/** Answers a request: with an Answer, or with a Response that a middleware has made. */
export type Handling = (
  request: Request,
  incoming: Incoming,
  outgoing: OutgoingAnswer,
) => Answer | Response | Promise<Answer | Response>

/** Serves Node's own requests and answers without creating a Request and a Response, which a call hardly needs. */
export function requestListener(handle: Handling, log: Log): Listener {
  return async (incoming, outgoing) => {
    try {
      const url = urlOf(incoming.url ?? '')
      const refused = isWithoutOneHost(incoming) ? noHost() : url === undefined ? noTarget() : undefined
      const answer = refused
        ? failureAnswer(refused)
        : await handle(requestOf(incoming, url as string), incoming, outgoing)
      // A client that waits for `100 Continue` may send its body anyway, which would look like the next request.
      if (expectsContinue(incoming)) outgoing.shouldKeepAlive = false
      drainBody(incoming, outgoing)
      const sending = send(outgoing, answer)
      if (sending) await sending
    } catch (error) {
      log.error('answer.failed', { error: describeError(error) })
      if (outgoing.headersSent) outgoing.destroy()
      else send(outgoing, failureAnswer(asGatewayError(error)))
    }
  }
}

/** The part of a Request that the router and its middleware use. */
function requestOf({ method, headers }: Incoming, url: string): Request {
  return { method, url, headers: { get: (name: string) => headers[name.toLowerCase()] ?? null } } as Request
}

/** Stands for the host of every request, which has no effect on routing. */
const ORIGIN = 'http://localhost'

const PLAIN_TARGET = /^\/[!#$&-;=?-[\]_a-z~]*$/
const DOT_SEGMENT = /\/\.\.?(?:[/?#]|$)/

/** The normalized URL of a request's target; undefined for an invalid one. */
function urlOf(target: string): string | undefined {
  if (PLAIN_TARGET.test(target) && !DOT_SEGMENT.test(target)) return ORIGIN + target
  const path = target.split('?', 1)[0] as string
  // The URL parser turns backslashes into slashes, which would change the path.
  if (path.includes('\\')) return undefined
  const absolute = /^https?:\/\//.test(target) ? target : path.startsWith('/') ? ORIGIN + target : ''
  return URL.canParse(absolute) ? new URL(absolute).href : undefined
}

/** HTTP/1.1 requires one host, so that nobody on the way can take another. Several arrive joined by commas. */
function isWithoutOneHost({ headers: { host }, httpVersion }: Incoming): boolean {
  return httpVersion === '1.1' && (host === undefined || host.includes(','))
}

function noHost(): GatewayError {
  return new GatewayError('invalid_request', 'The request has no Host header, or several.', { code: 'missing_host' })
}

function noTarget(): GatewayError {
  return new GatewayError('invalid_request', 'The request names no valid path.', { code: 'invalid_path' })
}

const UNREADABLE: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The request's headers are too long."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The request's chunk extensions are too long."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
}

/** The answer to bytes that are no HTTP request. */
export function unreadableAnswer({ code }: NodeJS.ErrnoException): string {
  const [status, message] = UNREADABLE[code ?? ''] ?? [400, 'This is not a valid HTTP request.']
  return rawAnswer(new GatewayError('invalid_request', message, { status, code: 'unreadable_request' }))
}

/** The answer to a request for a tunnel, which Node hands over as a bare connection. */
export function noTunnel(): string {
  return rawAnswer(new GatewayError('method_not_allowed', 'The gateway does not accept CONNECT.'))
}

function send(outgoing: OutgoingAnswer, { status, headers, body }: Answer | Response): Promise<void> | undefined {
  if (isOfResponse(headers)) outgoing.writeHead(status, recordOf(headers))
  else {
    if (body instanceof Uint8Array && hasBody(status)) headers['content-length'] = String(body.byteLength)
    outgoing.writeHead(status, headers)
  }
  if (body instanceof Uint8Array) return sendBytes(outgoing, body)
  if (body) {
    outgoing.flushHeaders()
    return pump(body.getReader(), outgoing)
  }
  outgoing.end()
  return undefined
}

function sendBytes(outgoing: OutgoingAnswer, bytes: Uint8Array): Promise<void> | undefined {
  if (bytes.byteLength > PIECE_BYTES) return writePieces(bytes, outgoing)
  if (bytes.byteLength > SHORT_BYTES || outgoing.joinsBytes) outgoing.end(bytes)
  else outgoing.end(latin1Text(bytes), 'latin1')
  return undefined
}

/** A cookie is not joined with others. */
function recordOf(headers: Headers): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = Object.fromEntries(headers)
  if (record['set-cookie'] !== undefined) record['set-cookie'] = headers.getSetCookie()
  return record
}

/** Avoids `instanceof Headers`: the first use of the class makes Node load its fetch, 30 ms of the first answer. */
function isOfResponse(headers: Answer['headers'] | Headers): headers is Headers {
  return typeof headers.get === 'function'
}

/** A short answer goes with its head in one write: Node itself joins texts, and bytes only with a second write. */
const SHORT_BYTES = 16_384

/** Longer answers are written in pieces of this size, so that a stalled client can be noticed. */
const PIECE_BYTES = 262_144

async function writePieces(body: Uint8Array, outgoing: OutgoingAnswer): Promise<void> {
  let wake: (() => void) | undefined
  const resume = () => wake?.()
  outgoing.on('drain', resume)
  outgoing.on('close', resume)
  for (let from = 0; from < body.byteLength && !outgoing.destroyed; from += PIECE_BYTES) {
    const hasRoom = outgoing.write(body.subarray(from, from + PIECE_BYTES))
    if (!hasRoom && !outgoing.destroyed) await new Promise<void>((resolve) => (wake = resolve))
  }
  outgoing.end()
}

/** Writes a stream at the pace of the socket. If the stream fails, the answer is cut. */
async function pump(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: OutgoingAnswer): Promise<void> {
  let wake: (() => void) | undefined
  const resume = () => wake?.()
  const cancel = () => {
    resume()
    reader.cancel().catch(() => {})
  }
  if (outgoing.destroyed) return cancel()
  outgoing.on('drain', resume)
  outgoing.on('close', cancel)
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
