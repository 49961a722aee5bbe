import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { bearerOf } from '../../../api/middleware/bearer.ts'
import { envelope, responsesSession } from '../../../api/v1/responses/socket-session.ts'
import { ConfigError } from '../../../config/config-error.ts'
import { newAbort } from '../../../lib/abort.ts'
import { asGatewayError, GatewayError } from '../../../lib/errors.ts'
import { newTimedId } from '../../../lib/ids.ts'
import { confirmCaller } from '../../../pipeline/admit/admit-request.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { type Client, clientClosed } from '../../../pipeline/client.ts'
import type { Services } from '../../../services.ts'
import { tooLarge } from '../../too-large.ts'
import { rawAnswer } from './raw-answer.node.ts'

const PATH = /^\/v1\/responses(?:\?|$)/

/** How long a connection lives, as the vendor's own. */
const LIFE_MS = 3_600_000

interface Means {
  /** Runs a request of a connection. */
  readonly fetch: (request: Request, client: Client) => Promise<Answer>
  readonly services: Services
  readonly defer: (work: Promise<unknown>) => void
}

/** The WebSockets of a server. */
export interface ResponsesSockets {
  /** Whether a request opens one; every other is answered as if it asked for no upgrade. */
  isOpening(incoming: IncomingMessage): boolean
  /** Refuses or opens one, for Node's event `upgrade`. */
  open(incoming: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Ends idle connections at once, the others after their turn, and opens no more. */
  end(): void
}

/** WebSockets at `/v1/responses`. */
export function responsesSockets({ fetch, services, defer }: Means): ResponsesSockets {
  if (!choosesUpgrades()) {
    const message = 'needs Node 22.21 or 24.9, or a later one; turn it off, or update Node'
    throw new ConfigError([{ path: 'general_settings.responses_websocket', message }])
  }
  const connections = new Map<() => void, () => boolean>()
  const { max_json_bytes: maxPayload } = services.config.general_settings
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload })
  sockets.on('wsClientError', ({ message }, socket) => {
    const refused = new GatewayError('invalid_request', `This is not a valid WebSocket handshake: ${message}.`, {
      code: 'invalid_handshake',
    })
    socket.end(rawAnswer(refused, { 'sec-websocket-version': '13' }))
  })
  let ending = false

  async function enter(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const peer = incoming.socket.remoteAddress ?? ''
    let owner: string
    try {
      const forwarded = incoming.headers['x-forwarded-for']
      const address = services.clientAddress(peer, Array.isArray(forwarded) ? forwarded.join() : forwarded)
      const caller = await services.identify(bearerOf(incoming.headers.authorization), address)
      // Each turn counts itself.
      const { keyId, kind } = await confirmCaller(services, { caller, address, id: newTimedId('socket') })
      owner = keyId ?? kind
    } catch (error) {
      socket.end(rawAnswer(asGatewayError(error)))
      return
    }
    sockets.handleUpgrade(incoming, socket, head, (connection) => serve(incoming, connection, owner))
  }

  function serve(incoming: IncomingMessage, connection: WebSocket, owner: string): void {
    const peer = incoming.socket.remoteAddress ?? ''
    const left = newAbort<Error>()
    const send = (text: string) =>
      new Promise<void>((resolve, reject) => connection.send(text, (error) => (error ? reject(error) : resolve())))
    const session = responsesSession({
      async ask(body) {
        const { client, ended } = turnClient(body, { left, peer, defer })
        const { status, body: answered } = await fetch(requestOf(incoming, body), client)
        if (answered instanceof Uint8Array) ended()
        return { status, body: answered }
      },
      send,
      hold(bytes) {
        if (bytes > maxPayload) throw tooLarge(maxPayload)
        const footprint = services.footprints.open(owner)
        footprint.add(bytes)
        return footprint
      },
    })
    const end = () => connection.close(1001)
    const life = setTimeout(() => {
      const message = 'A connection ends after 60 minutes. Open a new one to go on.'
      send(envelope(400, { code: 'websocket_connection_limit_reached', message }))
        .catch(() => {})
        .finally(end)
    }, LIFE_MS)
    life.unref()
    connections.set(end, () => session.busy)
    connection
      // What breaks the protocol or is too large: the library has closed the connection already.
      .on('error', () => {})
      .on('message', async (message: RawData, isBinary: boolean) => {
        if (isBinary) return connection.close(1003)
        await session.take(message.toString())
        if (ending) end()
      })
      .on('close', () => {
        clearTimeout(life)
        connections.delete(end)
        left.abort(clientClosed())
        session.end()
      })
  }

  return {
    isOpening: ({ method, url = '', headers }) =>
      !ending && method === 'GET' && PATH.test(url) && headers.upgrade?.toLowerCase() === 'websocket',
    open(incoming, socket, head) {
      socket.on('error', () => socket.destroy())
      enter(incoming, socket, head).catch(() => socket.destroy())
    },
    end() {
      ending = true
      for (const [end, isBusy] of connections) if (!isBusy()) end()
    },
  }
}

/** Whether Node asks which requests are upgrades. Where it does not, each that offers one loses its body. */
function choosesUpgrades(): boolean {
  const { createServer } = process.getBuiltinModule('node:http')
  return 'shouldUpgradeCallback' in createServer({ shouldUpgradeCallback: () => false })
}

/** The headers that are those of the connection, not of a request. Every opening of a browser's kind forbids caches,
 *  which says nothing of the turns. */
const OF_CONNECTION =
  /^(connection|upgrade|sec-websocket-.*|content-.*|cache-control|transfer-encoding|x-request-id|expect)$/

function requestOf({ headers }: IncomingMessage, body: Uint8Array): Request {
  const own: Record<string, string> = {
    'content-type': 'application/json',
    'content-length': String(body.byteLength),
  }
  const get = (name: string) => {
    const key = name.toLowerCase()
    return own[key] ?? (OF_CONNECTION.test(key) ? null : (headers[key] ?? null))
  }
  return { method: 'POST', url: 'http://localhost/v1/responses', headers: { get } } as Request
}

interface Turn {
  readonly left: Client['signal']
  readonly peer: string
  defer(work: Promise<unknown>): void
}

/** The client of one turn: its request has arrived, and its answer is read by the session. */
function turnClient(
  bytes: Uint8Array,
  { left, peer, defer }: Turn,
): { readonly client: Client; readonly ended: () => void } {
  const listeners: (() => void)[] = []
  const ended = () => {
    left.removeEventListener('abort', ended)
    for (const listener of listeners.splice(0)) listener()
  }
  left.addEventListener('abort', ended, { once: true })
  const client: Client = {
    signal: left,
    address: peer,
    defer,
    async body(limitBytes, footprint) {
      if (bytes.byteLength > limitBytes) throw tooLarge(limitBytes)
      footprint.add(bytes.byteLength)
      return bytes
    },
    upload() {
      throw new TypeError('a turn has no upload')
    },
    ended: (listener) => void listeners.push(listener),
    openStream() {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      return {
        readable,
        write: (piece) => writer.write(piece),
        async close() {
          await writer.close()
          ended()
        },
        abort() {
          void writer.abort().catch(() => {})
          ended()
        },
      }
    },
  }
  return { client, ended }
}
