import type { Abort } from '../../lib/abort.ts'
import { keysIn } from '../../lib/addresses/shown-address.ts'
import { secret } from '../../lib/secret.ts'
import {
  BodyTooLarge,
  PrivateAddress,
  type Transport,
  TransportError,
  type UpstreamResponse,
} from '../../transport/transport.ts'
import { withCredentialsMasked } from '../../transport/without-secrets.ts'
import type { ToolServer } from '../tool-server.ts'
import { VIA_HEADER } from '../via.ts'
import { addressOf, privateAddress } from './addresses.ts'
import { failureOf } from './failures.ts'
import { messagesIn, type RpcMessage } from './messages.ts'

/** An answer with its events may have so many bytes. */
export const MOST_ANSWER_BYTES = 4 * 1024 * 1024

/** The server that is asked, and what it said of the session in which it is. */
export interface End {
  readonly server: ToolServer
  readonly transport: Transport
  readonly session?: SessionHead
  /** The gateways through which the question comes, with this one. */
  readonly via: string
}

export interface SessionHead {
  /** undefined for a server that keeps no sessions. */
  readonly id: string | undefined
  readonly protocolVersion: string
}

/** Sends one HTTP request to a server. */
export async function send(
  { server, transport, session, via }: End,
  method: 'GET' | 'POST' | 'DELETE',
  body: string | undefined,
  signal: Abort,
  more: Readonly<Record<string, string>> = {},
): Promise<UpstreamResponse> {
  const headers = {
    ...server.credentials,
    accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    // A few bytes may unpack to gigabytes.
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
    [VIA_HEADER]: via,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(session ? { 'mcp-protocol-version': session.protocolVersion } : {}),
    ...(session?.id === undefined ? {} : { 'mcp-session-id': session.id }),
    ...more,
  }
  const request = {
    ...addressOf(server),
    method,
    headers,
    publicOnly: !server.allowPrivate,
    ...(body === undefined ? {} : { body }),
  }
  try {
    return await transport.send(request, signal)
  } catch (error) {
    throw brokenOff(server, signal, error, 'cannot be reached')
  }
}

/** The whole body of an answer. */
export async function textOf(
  end: End,
  { body }: UpstreamResponse,
  signal: Abort,
  most = MOST_ANSWER_BYTES,
): Promise<string> {
  try {
    return masked(end, new TextDecoder().decode(await body.bytes(most)))
  } catch (error) {
    throw brokenOff(end.server, signal, error, 'broke its answer off')
  }
}

/** A server that repeats what it is sent must not tell others our credentials. */
export const masked = ({ server: { url, credentials } }: End, text: string) =>
  withCredentialsMasked(text, { ...credentials, ...Object.fromEntries(keysIn(url).map((key) => [key, secret(key)])) })

/** The messages in a text of the server. */
export function messagesOf({ server }: End, text: string): RpcMessage[] {
  try {
    return messagesIn(text)
  } catch (error) {
    if (error instanceof RangeError) {
      throw failureOf(server, 'too_large', `answered with JSON that is ${error.message}`, { cause: error })
    }
    throw failureOf(server, 'protocol', 'answered with something other than JSON', { cause: error })
  }
}

/** Why an answer did not come, or not to its end. */
export function brokenOff(server: ToolServer, signal: Abort, error: unknown, words: string): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof PrivateAddress) return privateAddress(server)
  if (error instanceof BodyTooLarge || error instanceof RangeError) {
    return failureOf(server, 'too_large', `answered with more than ${MOST_ANSWER_BYTES} bytes`, { cause: error })
  }
  if (error instanceof TransportError) return failureOf(server, 'unreachable', words, { cause: error })
  return error
}

export function typeOf({ headers }: UpstreamResponse): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}
