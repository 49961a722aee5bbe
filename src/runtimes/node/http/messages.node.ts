import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** A request as it is read here: an IncomingMessage of Node, or one that was read without it. */
export interface Incoming {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly httpVersion: string
  readonly headers: IncomingHttpHeaders
  readonly socket: Socket
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableEnded: boolean
  readonly readableDidRead: boolean
  readonly readableLength: number
  read(): Uint8Array | null
  resume(): unknown
  on(event: 'data', listener: (piece: Uint8Array) => void): unknown
  on(event: 'readable' | 'end' | 'close' | 'error', listener: () => void): unknown
  once(event: 'end' | 'close', listener: () => void): unknown
  off(event: 'data', listener: (piece: Uint8Array) => void): unknown
  off(event: 'readable', listener: () => void): unknown
}

/** An answer as it is written here: a ServerResponse of Node, or one that is written without it. */
export interface OutgoingAnswer {
  readonly req: Incoming
  /** Null where the answer waits behind another one of its connection. */
  readonly socket: Socket | null
  readonly closed: boolean
  readonly destroyed: boolean
  readonly headersSent: boolean
  readonly writableFinished: boolean
  readonly writableLength: number
  /** Whether the connection serves another request. It matters until the head is written. */
  shouldKeepAlive: boolean
  writeHead(status: number, headers: Record<string, string | string[]>): unknown
  flushHeaders(): void
  /** Returns false where the next piece should wait for the event `drain`. */
  write(piece: Uint8Array, written?: (error: Error | null | undefined) => void): boolean
  end(last?: Uint8Array): unknown
  end(last: string, encoding: 'latin1'): unknown
  /** Whether short bytes at the end go with the head in one write, as a text does. */
  readonly joinsBytes?: true
  destroy(): unknown
  on(event: 'close' | 'drain' | 'finish', listener: () => void): unknown
  once(event: 'close' | 'drain' | 'finish', listener: () => void): unknown
}

/** Answers requests. */
export type Listener = (incoming: Incoming, outgoing: OutgoingAnswer) => void
