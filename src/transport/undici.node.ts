/// <reference path="./undici-agent.d.ts" />
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
// Importing the agent alone leaves out undici's fetch, caches and mocks: 85 modules, and 40 ms of each start.
import Agent from 'undici/lib/dispatcher/agent.js'
import type { Abort } from '../lib/abort.ts'
import type { Pieces } from '../lib/bytes/pieces.ts'
import { gathering } from '../lib/forms/gathering.node.ts'
import { openHeaders } from './open-headers.ts'
import { publicLookup } from './public-lookup.node.ts'
import {
  BodyTooLarge,
  PrivateAddress,
  type Transport,
  TransportError,
  type UpstreamBody,
  type UpstreamRequest,
  type UpstreamResponse,
} from './transport.ts'

const PENDING_LIMIT_BYTES = 65_536

/** The transport of Node: undici's dispatcher with a handler of its own, which costs a sixth of `fetch` for each
 *  call. */
export function undiciTransport(): Transport & { close(): Promise<void> } {
  // The pipeline has the timeouts of an upstream. A second set in undici would make their cause unclear.
  const options = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000, keepAliveTimeout: 30_000 }
  const agent = new Agent(options)
  // Connections are kept by origin: those of one agent were all checked.
  let outside: Agent | undefined
  function agentOf({ publicOnly }: UpstreamRequest): Agent {
    if (!publicOnly) return agent
    outside ??= new Agent({ ...options, connect: { lookup: publicLookup, timeout: options.connectTimeout } })
    return outside
  }
  return {
    send: (request, signal) =>
      new Promise((resolve, reject) => dispatch(agentOf(request), request, signal, resolve, reject)),
    async close() {
      await Promise.all([agent.destroy(), outside?.destroy()])
    },
  }
}

function dispatch(
  agent: Agent,
  request: UpstreamRequest,
  signal: Abort,
  resolve: (response: UpstreamResponse) => void,
  reject: (error: unknown) => void,
): void {
  if (signal.aborted) {
    reject(signal.reason)
    return
  }
  let controller: Dispatcher.DispatchController | undefined
  let failure: unknown
  let ended = false
  let paused = false
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  /** Receives pieces instead of `pending` while `bytes` reads the whole body. */
  let sink: ((piece: Uint8Array) => void) | undefined
  let declared = Number.NaN
  let wake: (() => void) | undefined

  const notify = () => {
    wake?.()
    wake = undefined
  }
  const more = () => new Promise<void>((resolve) => (wake = resolve))
  const clearPending = () => {
    pending = []
    pendingBytes = 0
    if (!paused) return
    paused = false
    controller?.resume()
  }
  const abort = () => {
    const reason = signal.reason instanceof Error ? signal.reason : new TransportError('the call was ended')
    if (controller) controller.abort(reason)
    fail(reason)
  }
  const fail = (error: unknown) => {
    signal.removeEventListener('abort', abort)
    if (ended) return
    ended = true
    failure = error
    notify()
    reject(error)
  }
  signal.addEventListener('abort', abort, { once: true })

  const cancel = () => {
    if (ended) return
    pending = []
    pendingBytes = 0
    const reason = new TransportError('the call was ended')
    fail(reason)
    controller?.abort(reason)
  }
  const body: UpstreamBody = {
    async read() {
      if (pendingBytes === 0 && !ended) await more()
      if (pendingBytes === 0) {
        if (failure !== undefined) throw failure
        return undefined
      }
      // Joining short pieces uses memory of Buffer's pool.
      const [piece] = pending.length === 1 ? pending : [Buffer.concat(pending)]
      clearPending()
      return piece
    },
    async bytes(limitBytes, arrived) {
      const whole = gathering(declared)
      let length = 0
      let refused: { readonly error: unknown } | undefined
      sink = (piece) => {
        length += piece.byteLength
        if (length > limitBytes) {
          cancel()
          return
        }
        try {
          arrived?.(piece.byteLength)
        } catch (error) {
          refused ??= { error }
          cancel()
          return
        }
        whole.push(piece)
      }
      for (const piece of pending) sink(piece)
      clearPending()
      while (!ended) await more()
      if (length > limitBytes) throw new BodyTooLarge(`the upstream's answer is larger than ${limitBytes} bytes`)
      if (refused) throw refused.error
      if (failure !== undefined) throw failure
      return whole.bytes()
    },
    cancel,
  }

  const headers = openHeaders(request.headers)
  // undici writes a single piece together with the head, and several by an iterator, one after the other.
  const requestBody = inOnePiece(request.body)
  // undici does not compute the length of a body in pieces.
  if (Array.isArray(requestBody))
    headers['content-length'] = String(requestBody.reduce((sum, piece) => sum + piece.byteLength, 0))
  let broken: { readonly error: unknown } | undefined
  const { upload } = request
  if (upload?.length !== undefined) headers['content-length'] = String(upload.length)

  agent.dispatch(
    {
      origin: request.origin,
      path: request.path,
      method: request.method,
      headers,
      body: upload
        ? (piecewise(upload, (error) => (broken = { error })) as unknown as Readable)
        : ((requestBody as Buffer | string | undefined) ?? null),
    },
    {
      onRequestStart(started) {
        controller = started
        if (signal.aborted) abort()
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return
        declared = Number(headers['content-length'])
        resolve({ status, headers: joinHeaders(headers), body })
      },
      onResponseData(_controller, chunk) {
        if (sink) {
          sink(chunk)
          return
        }
        pending.push(chunk)
        pendingBytes += chunk.byteLength
        if (pendingBytes > PENDING_LIMIT_BYTES && !paused) {
          paused = true
          controller?.pause()
        }
        notify()
      },
      onResponseEnd() {
        signal.removeEventListener('abort', abort)
        ended = true
        notify()
      },
      onResponseError(_controller, error) {
        if (signal.aborted) fail(signal.reason)
        else if (broken) fail(broken.error)
        else if (error instanceof TransportError || error instanceof PrivateAddress) fail(error)
        else fail(new TransportError(`the connection to ${request.origin} failed: ${codeOf(error)}`, { cause: error }))
      },
    },
  )
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
