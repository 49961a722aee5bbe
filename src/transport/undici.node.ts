/// <reference path="./undici-modules.d.ts" />
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
// Importing the agent alone leaves out undici's fetch, caches and mocks: 85 modules, and 40 ms of each start.
import Agent from 'undici/lib/dispatcher/agent.js'
import type { Abort } from '../lib/abort.ts'
import type { Pieces } from '../lib/bytes/pieces.ts'
import { type IncomingAnswer, incomingAnswer } from './incoming-answer.node.ts'
import { openHeaders } from './open-headers.ts'
import { proxiedAgent } from './proxied-agent.node.ts'
import { publicLookup } from './public-lookup.node.ts'
import { ADDRESS_MS, sharedLookup } from './shared-lookup.node.ts'
import { PrivateAddress, type Transport, TransportError, type UpstreamRequest } from './transport.ts'
import { watchHttp2 } from './watch-http2.node.ts'

export interface NodeTransportOptions {
  /** Whether requests go through the proxies that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`). Those for
   *  the outside alone do not: a proxy would look up their names anew, and reach whatever it likes. */
  readonly proxied?: boolean
}

/** Sends everything, over TLS too: by undici's dispatcher with a handler of its own, which costs a sixth of `fetch` for
 *  each call. */
export function undiciTransport({
  proxied = false,
}: NodeTransportOptions = {}): Transport & { close(): Promise<void> } {
  const settings = settingsBy(sharedLookup)
  const agent = proxied ? proxiedAgent(settings, CONNECT_MS) : new Agent(settings)
  // Connections are kept by origin: those of one agent were all checked.
  let outside: Agent | undefined
  const unwatched = watchHttp2()
  function agentOf({ publicOnly }: UpstreamRequest): Dispatcher {
    if (!publicOnly) return agent
    outside ??= new Agent(settingsBy(publicLookup))
    return outside
  }
  return {
    send: (request, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) reject(signal.reason)
        else dispatch(agentOf(request), request, signal, incomingAnswer(signal, resolve, reject))
      }),
    async close() {
      unwatched()
      await Promise.all([agent.destroy(), outside?.destroy()])
    },
  }
}

const CONNECT_MS = 10_000

function settingsBy(lookup: LookupFunction): Agent.Options {
  // The pipeline has the timeouts of an upstream. A second set in undici would make their cause unclear. The time for
  // headers, which no request has, is undici's patience with an HTTP/2 connection that takes no requests and has none open.
  const timeouts = { headersTimeout: CONNECT_MS, bodyTimeout: 0, keepAliveTimeout: 30_000 }
  return { ...timeouts, connect: { lookup, autoSelectFamilyAttemptTimeout: ADDRESS_MS, timeout: CONNECT_MS } }
}

function dispatch(agent: Dispatcher, request: UpstreamRequest, signal: Abort, answer: IncomingAnswer): void {
  const headers = openHeaders(request.headers)
  // undici writes a single piece together with the head, and several by an iterator, one after the other.
  const requestBody = inOnePiece(request.body)
  // undici does not compute the length of a body in pieces.
  if (Array.isArray(requestBody))
    headers['content-length'] = String(requestBody.reduce((sum, piece) => sum + piece.byteLength, 0))
  const { origin, path, method, upload } = request
  if (upload?.length !== undefined) headers['content-length'] = String(upload.length)
  const handler = handlerOf(origin, signal, answer)
  const body = upload
    ? (piecewise(upload, (error) => (handler.broken = { error })) as unknown as Readable)
    : ((requestBody as Buffer | string | undefined) ?? null)
  agent.dispatch({ origin, path, method, headers, body, headersTimeout: 0 }, handler)
}

interface Handler extends Dispatcher.DispatchHandler {
  readonly origin: string
  readonly signal: Abort
  readonly answer: IncomingAnswer
  /** What has kept the rest of an upload from being read. */
  broken: { readonly error: unknown } | undefined
}

/** Tells an answer what undici tells of it. */
function handlerOf(origin: string, signal: Abort, answer: IncomingAnswer): Handler {
  // The functions are shared by all handlers, so that one costs a single object.
  return {
    origin,
    signal,
    answer,
    broken: undefined,
    onRequestStart,
    onResponseStart,
    onResponseData,
    onResponseEnd,
    onResponseError,
  }
}

function onRequestStart(this: Handler, controller: Dispatcher.DispatchController): void {
  this.answer.source = controller
  if (this.signal.aborted) controller.abort(reasonOf(this.signal))
}

function onResponseStart(
  this: Handler,
  _controller: Dispatcher.DispatchController,
  status: number,
  headers: Record<string, string | string[] | undefined>,
): void {
  if (status >= 200) this.answer.head(status, joinHeaders(headers))
}

function onResponseData(this: Handler, _controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
  this.answer.data(chunk)
}

function onResponseEnd(this: Handler): void {
  this.answer.end()
}

function onResponseError(this: Handler, _controller: Dispatcher.DispatchController, error: Error): void {
  const { answer, broken, origin, signal } = this
  if (signal.aborted) answer.fail(signal.reason)
  else if (broken) answer.fail(broken.error)
  else if (error instanceof TransportError || error instanceof PrivateAddress) answer.fail(error)
  else answer.fail(new TransportError(`the connection to ${origin} failed: ${codeOf(error)}`, { cause: error }))
}

function reasonOf({ reason }: Abort): Error {
  return reason instanceof Error ? reason : new TransportError('the call was ended')
}

function inOnePiece(body: UpstreamRequest['body']): UpstreamRequest['body'] {
  return Array.isArray(body) && body.length === 1 ? body[0] : body
}

async function* piecewise(pieces: Pieces, broke: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    for (let piece = await pieces.read(); piece !== undefined; piece = await pieces.read()) yield piece
  } catch (error) {
    broke(error)
    throw error
  }
}

function joinHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) headers[name] = value.join(', ')
  }
  return headers as Record<string, string>
}

/** The error's code or name, never its message: undici's messages may quote the request. */
function codeOf(error: Error): string {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? code : error.name
}
