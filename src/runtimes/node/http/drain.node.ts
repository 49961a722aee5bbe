import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Aborter, newAbort } from '../../../lib/abort.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { type Link, ring } from '../../../lib/ring.ts'
import { atMost } from '../../../lib/timers/at-most.ts'

/** How long cut calls may take to settle. */
const SETTLE_MS = 2000

/** How long a cut client may take to read the error. */
const FAREWELL_MS = 500

/** A connection that is kept alive becomes idle when its answer ends, some time after `close` looked for idle ones. */
const SWEEP_MS = 50

/** How long a client that has just connected may send its request. */
const SILENT_MS = 500

/** Work that was handed over by requests and must be done before the process ends. */
export interface Pending {
  add(work: Promise<unknown>): void
  settled(): Promise<void>
}

export function pendingWork(onError: (error: unknown) => void): Pending {
  let running = 0
  let waiting: (() => void)[] = []
  const done = () => {
    running -= 1
    if (running > 0) return
    const told = waiting
    waiting = []
    for (const wake of told) wake()
  }
  const failed = (error: unknown) => {
    done()
    onError(error)
  }
  return {
    add(work) {
      running += 1
      work.then(done, failed)
    },
    async settled() {
      while (running > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}

/** An answer that has not ended. */
export interface OpenAnswer extends Link {
  readonly outgoing: ServerResponse
  /** Aborted when the client has left before the answer's end, or the call is cut. */
  readonly left: Aborter<GatewayError>
  /** Told once when the answer has been taken, or its client has left. */
  ended: (() => void) | undefined
}

export const openAnswer = (outgoing: ServerResponse): OpenAnswer => ({
  outgoing,
  left: newAbort<GatewayError>(),
  ended: undefined,
  before: undefined,
  after: undefined,
})

/** The connections of a server, as far as stopping it is concerned. */
export interface Connections {
  /** To be told of every answer. */
  answering(outgoing: ServerResponse): OpenAnswer
  /** Every answer that has not ended. */
  open(): readonly OpenAnswer[]
  /** Whether an answer has begun over a connection and has not ended. */
  isAnswered(socket: Duplex): boolean
  /** From now on every answer whose head is still to be sent announces the end of its connection. */
  last(): void
  /** Ends the calls that still run. */
  cut(reason: GatewayError): void
  /** Closes connections without any request, which browsers and balancers open in advance. */
  closeSilent(): void
}

export function connectionsOf(server: Server): Connections {
  const sockets = new Set<Socket>()
  const open = ring<OpenAnswer>()
  let lasts = false
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return {
    open: open.all,
    answering(outgoing) {
      if (lasts) outgoing.shouldKeepAlive = false
      const answer = openAnswer(outgoing)
      open.add(answer)
      outgoing.on('close', () => {
        open.remove(answer)
        if (!outgoing.writableFinished) answer.left.abort()
        answer.ended?.()
      })
      return answer
    },
    isAnswered: (socket) => open.all().some(({ outgoing }) => outgoing.socket === socket && outgoing.headersSent),
    last() {
      lasts = true
      for (const { outgoing } of open.all()) outgoing.shouldKeepAlive = false
    },
    cut(reason) {
      for (const { left } of open.all()) left.abort(reason)
    },
    closeSilent() {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}

/** Stops accepting, lets what runs finish, cuts what takes too long. */
export async function drain(
  server: Server,
  {
    connections,
    pending,
    limitMs,
  }: {
    connections: Connections
    pending: Pending
    limitMs: number
  },
): Promise<'drained' | 'cut'> {
  connections.last()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  const silent = setTimeout(() => connections.closeSilent(), SILENT_MS)
  const inTime = await atMost(
    limitMs,
    closed.then(() => pending.settled()),
  )
  if (!inTime) {
    connections.cut(new GatewayError('shutting_down', 'The process was stopped before the answer ended.'))
    // What they are told still goes out, to those who take it.
    await atMost(FAREWELL_MS, closed)
    server.closeAllConnections()
    // Cut calls settle at once; what they leave must still be kept.
    await atMost(SETTLE_MS, pending.settled())
  }
  clearInterval(sweep)
  clearTimeout(silent)
  return inTime ? 'drained' : 'cut'
}
