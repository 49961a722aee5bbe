import type { Server } from 'node:http'
import { Server as Listening, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Aborter, newAbort } from '../../../lib/abort.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { type Link, ring } from '../../../lib/ring.ts'
import { atMost } from '../../../lib/timers/at-most.ts'
import type { OutgoingAnswer } from './messages.node.ts'
import type { PlainConnections } from './plain/plain-connections.node.ts'

/** The time for cut calls to settle. */
const SETTLE_MS = 2000

/** The time for clients of cut calls to read the error. */
const FAREWELL_MS = 500

/** The time for a client to send its next request over a connection that is kept alive: it may be on its way. */
const IDLE_MS = 200

/** The time for a client that has just connected to send its request. */
const SILENT_MS = 500

/** The time to wait for a calm moment to stop listening in, and how long a turn of the event loop takes in it at most. */
const CALM_MS = 200
const SHORT_TURN_MS = 1

/** Deferred work of requests, which must be done before the process ends. */
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
    const waiters = waiting
    waiting = []
    for (const wake of waiters) wake()
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
  readonly outgoing: OutgoingAnswer
  /** Aborts if the client disconnects before the answer's end, or if the call is cut. */
  readonly left: Aborter<GatewayError>
  /** Called once when the answer has been delivered, or the client has disconnected. */
  ended: (() => void) | undefined
}

export const openAnswer = (outgoing: OutgoingAnswer): OpenAnswer => ({
  outgoing,
  left: newAbort<GatewayError>(),
  ended: undefined,
  before: undefined,
  after: undefined,
})

/** The connections and running answers of a server, for stopping it. */
export interface Connections {
  /** Registers an answer. */
  answering(outgoing: OutgoingAnswer): OpenAnswer
  /** Every answer that has not ended. */
  open(): readonly OpenAnswer[]
  /** Whether a connection has an answer that has begun and has not ended. */
  isAnswered(socket: Duplex): boolean
  /** Makes every answer from now on announce the end of its connection, if its head has not been sent yet. */
  last(): void
  /** Ends all running calls. */
  cut(reason: GatewayError): void
  /** Closes those that wait for their next request, and did when it was called before. Those that Node reads wait until no
   *  answer has ended in between. */
  closeIdle(): void
  closeAll(): void
  /** Closes connections without a request, which browsers and load balancers open in advance. */
  closeSilent(): void
  /** Resolves in a turn of the event loop that was short and brought no connection, so that none waits to be accepted, and
   *  no request to be read: those that do are lost when the server stops listening, or closes their connection. After
   *  `limitMs` in any turn. */
  calm(limitMs: number): Promise<void>
}

export function connectionsOf(server: Server, plain?: PlainConnections): Connections {
  const sockets = new Set<Socket>()
  const open = ring<OpenAnswer>()
  let isLast = false
  let accepted = 0
  /** Node does not tell since when its connections are idle. */
  let someEnded = true
  server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return {
    open: open.all,
    answering(outgoing) {
      if (isLast) outgoing.shouldKeepAlive = false
      const answer = openAnswer(outgoing)
      open.add(answer)
      outgoing.on('close', () => {
        open.remove(answer)
        someEnded = true
        if (!outgoing.writableFinished) answer.left.abort()
        answer.ended?.()
      })
      return answer
    },
    isAnswered: (socket) => open.all().some(({ outgoing }) => outgoing.socket === socket && outgoing.headersSent),
    last() {
      isLast = true
      for (const { outgoing } of open.all()) outgoing.shouldKeepAlive = false
    },
    cut(reason) {
      for (const { left } of open.all()) left.abort(reason)
    },
    closeIdle() {
      if (!someEnded) server.closeIdleConnections()
      someEnded = false
      plain?.closeIdle()
    },
    closeAll() {
      server.closeAllConnections()
      plain?.closeAll()
    },
    closeSilent() {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    },
    async calm(limitMs) {
      // Whoever calls from an event of a socket or a signal has not let the loop look at the sockets yet.
      await lookedAtSockets()
      const until = performance.now() + limitMs
      for (let begun = performance.now(), before = -1; begun < until; begun = performance.now()) {
        if (before === accepted) return
        before = accepted
        await lookedAtSockets()
        if (performance.now() - begun > SHORT_TURN_MS) before = -1
      }
    },
  }
}

/** Resolves when the event loop has read what lay in the sockets. A connection whose next request has come already seems
 *  idle before, and to close it would fail that request. */
const lookedAtSockets = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Stops accepting connections, waits for running calls, and cuts them after the limit. Connections that are kept alive
 *  get `idleMs` for a next request, whose answer is their last. */
export async function drain(
  server: Server,
  {
    connections,
    pending,
    limitMs,
    idleMs = IDLE_MS,
  }: {
    connections: Connections
    pending: Pending
    limitMs: number
    idleMs?: number | undefined
  },
): Promise<'drained' | 'cut'> {
  await connections.calm(CALM_MS)
  // Not as a server of http, which would close idle connections as well.
  const closed = new Promise<void>((resolve) => void Listening.prototype.close.call(server, () => resolve()))
  // Not before: clients of last answers connect anew.
  connections.last()
  const sweep = setInterval(async () => {
    await connections.calm(idleMs / 2)
    connections.closeIdle()
  }, idleMs)
  const silent = setTimeout(async () => {
    await lookedAtSockets()
    connections.closeSilent()
  }, SILENT_MS)
  const inTime = await atMost(
    limitMs,
    closed.then(() => pending.settled()),
  )
  if (!inTime) {
    connections.cut(new GatewayError('shutting_down', 'The process was stopped before the answer ended.'))
    // The clients of cut calls may still read the error.
    await atMost(FAREWELL_MS, closed)
    connections.closeAll()
    // Cut calls settle at once, and their records must be stored.
    await atMost(SETTLE_MS, pending.settled())
  }
  clearInterval(sweep)
  clearTimeout(silent)
  // Ends the look that Node takes at connections every now and then.
  server.close()
  return inTime ? 'drained' : 'cut'
}
