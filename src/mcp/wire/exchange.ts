import type { Abort } from '../../lib/abort.ts'
import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { UpstreamResponse } from '../../transport/transport.ts'
import { RPC_ERRORS } from '../protocol.ts'
import type { RpcError } from '../tool-servers.ts'
import { replyAmongEvents } from './events.ts'
import { failureOf, rpcFailure, statusFailure } from './failures.ts'
import { type End, messagesOf, send, textOf, typeOf } from './http.ts'
import { messagesIn, type RpcMessage } from './messages.ts'
import { isStateless, wholeHeaders, wholeMessage } from './stateless.ts'

/** The body of a refusal. */
const MOST_REFUSAL_BYTES = 64 * 1024
/** So many requests of a server are answered while it works on one of ours. */
const MOST_ANSWERS = 100

export interface Request {
  readonly id: number
  readonly method: string
  readonly params?: JsonRecord
  /** Headers that repeat its arguments, for a server that wants them. */
  readonly mirrors?: Readonly<Record<string, string>>
}

/** Called with the notifications that arrive before the reply. */
export type Heard = (method: string, params: JsonRecord) => void

export interface RpcReply {
  readonly result: JsonRecord
  readonly headers: Readonly<Record<string, string>>
}

/** The server does not know the session, which is to be opened again. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'
}

/** Sends a request, and reads JSON or events until its reply. What the server asks meanwhile is answered: a ping by a
 *  pong, all else by an error. Rejects with a ToolFailure, with SessionLost, or with the reason of the signal. */
export async function ask(end: End, request: Request, signal: Abort, heard: Heard = () => {}): Promise<RpcReply> {
  const { mirrors, ...message } = request
  const response = await post(end, message, signal, mirrors)
  const { status, headers, body } = response
  if (status !== 200) throw await refusalOf(end, response, signal)
  const type = typeOf(response)
  const isReply = listener(end, request, signal, heard)
  const reply =
    type === 'text/event-stream'
      ? await replyAmongEvents(end, response, signal, isReply)
      : type === 'application/json'
        ? messagesOf(end, await textOf(end, response, signal)).find(isReply)
        : undefined
  if (reply?.kind === 'error') throw rpcFailure(end.server, reply.error)
  if (reply?.kind === 'result') {
    const { resultType = 'complete' } = reply.result
    if (resultType === 'complete') return { result: reply.result, headers }
    throw failureOf(end.server, 'failed', 'asks for what only a person could tell')
  }
  body.cancel()
  throw failureOf(end.server, 'protocol', wordsForNoReply(type, headers['content-encoding']))
}

/** Sends a notification or an answer, of which only the acceptance comes back. */
export async function tell(end: End, message: JsonRecord, signal: Abort): Promise<void> {
  const response = await post(end, message, signal)
  response.body.cancel()
  if (response.status === 404 && end.session?.id !== undefined) throw new SessionLost('no such session')
  if (response.status >= 300) throw statusFailure(end.server, response.status)
}

/** Ends a session. A server need not allow it. */
export async function hangUp(end: End, signal: Abort): Promise<void> {
  const response = await send(end, 'DELETE', undefined, signal)
  response.body.cancel()
}

/** Whether the address answers a GET with events, as the transport before Streamable HTTP did. */
export async function speaksOlderTransport(end: End, signal: Abort): Promise<boolean> {
  const response = await send(end, 'GET', undefined, signal)
  response.body.cancel()
  return response.status === 200 && typeOf(response) === 'text/event-stream'
}

function post(end: End, message: JsonRecord, signal: Abort, mirrors: Request['mirrors'] = {}) {
  const { session } = end
  if (!isStateless(session)) return send(end, 'POST', JSON.stringify({ jsonrpc: '2.0', ...message }), signal)
  const whole = JSON.stringify({ jsonrpc: '2.0', ...wholeMessage(session, message) })
  return send(end, 'POST', whole, signal, { ...mirrors, ...wholeHeaders(message) })
}

/** Tells whether a message is the reply to the request. All others are heard, answered, or ignored. */
function listener(end: End, { id }: Request, signal: Abort, heard: Heard): (message: RpcMessage) => boolean {
  let answered = 0
  return (message) => {
    if (message.kind === 'result' || message.kind === 'error') return message.id === id
    if (message.kind === 'notification') heard(message.method, message.params)
    else if (!isStateless(end.session) && answered++ < MOST_ANSWERS) {
      const isPing = message.method === 'ping'
      const answer = isPing
        ? { result: {} }
        : { error: { code: RPC_ERRORS.methodNotFound, message: 'Only pings are answered.' } }
      // Beside the reading: the server may wait for it before it goes on.
      tell(end, { id: message.id, ...answer }, signal).catch(() => {})
    }
    return false
  }
}

async function refusalOf(end: End, response: UpstreamResponse, signal: Abort): Promise<Error> {
  const { server, session } = end
  const { status, body } = response
  if (status === 404 && session?.id !== undefined) {
    body.cancel()
    return new SessionLost('no such session')
  }
  const isJson = typeOf(response) === 'application/json'
  if (!isJson || status < 400 || status === 401 || status === 403) {
    body.cancel()
    return status < 300
      ? failureOf(server, 'protocol', `accepted a request and answered nothing (${status})`)
      : statusFailure(server, status)
  }
  // A refusal whose body cannot be read is one all the same.
  const messages = await textOf(end, response, signal, MOST_REFUSAL_BYTES)
    .then(messagesIn)
    .catch((): RpcMessage[] => [])
  const said = messages.find((message) => message.kind === 'error')
  if (!said) return statusFailure(server, status)
  // Servers that lost their memory often say so in this way instead of 404.
  if (status === 400 && session?.id !== undefined && /session/i.test(said.error.message)) {
    return new SessionLost('no such session')
  }
  if (status === 400 && session && isOfVersion(said.error)) return new SessionLost('another version by now')
  return rpcFailure(server, said.error)
}

/** Whether a server that was replaced says that it does not speak the version of before. */
function isOfVersion({ code, message }: RpcError): boolean {
  return code === RPC_ERRORS.unsupportedVersion || /protocol.version/i.test(message)
}

function wordsForNoReply(type: string, encoding: string | undefined): string {
  if (encoding !== undefined && encoding !== 'identity') return 'answered in a compressed form that was not asked for'
  if (type === 'text/event-stream') return 'ended its events without an answer'
  if (type === 'application/json') return 'answered with JSON that is no reply to the request'
  return `answered with ${/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'no content type'} instead of JSON or events`
}
