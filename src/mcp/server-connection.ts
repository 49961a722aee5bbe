import { type Abort, unlessAborted } from '../lib/abort.ts'
import type { JsonRecord } from '../lib/json/lenient.ts'
import type { Timers } from '../lib/timers/timers.ts'
import type { Transport } from '../transport/transport.ts'
import { within } from './deadline.ts'
import type { ToolServer } from './tool-server.ts'
import { viaWith } from './via.ts'
import { ask, hangUp, SessionLost, tell } from './wire/exchange.ts'
import { failureOf } from './wire/failures.ts'
import { openSession, type ServerSession } from './wire/session.ts'
import { isStateless } from './wire/stateless.ts'

/** How long a server is given to hear that a call was cancelled, or that a session ended. */
const FAREWELL_MS = 2000

export interface Connecting {
  readonly transport: Transport
  readonly timers: Timers
  /** The id of this gateway. */
  readonly gateway: string
  /** Keeps the runtime alive for work that nobody waits for. Where it is given, a promise belongs to the request that
   *  began it, and no other may wait for it. */
  readonly defer?: ((work: Promise<void>) => void) | undefined
}

/** A question to a server, by the number that it gets. */
export interface Question {
  readonly method: string
  readonly params: (id: number) => JsonRecord
  /** Headers that repeat its arguments, for a server that wants them. */
  readonly mirrors?: Readonly<Record<string, string>>
  /** The gateways through which it has come. */
  readonly via?: string | undefined
  /** Called with the notifications that come before the reply. */
  readonly heard?: (method: string, params: JsonRecord, id: number) => void
}

/** The connection to one server: its session is opened with the first question, and again when the server lost it. */
export interface ServerConnection {
  /** Rejects with a ToolFailure, or with the reason of the signal; then the server is told that nobody waits. */
  request(question: Question, signal: Abort): Promise<JsonRecord>
  /** The open session, for those who want to know what the server said of itself. */
  session(): ServerSession | undefined
  /** Ends the session. */
  end(): Promise<void>
}

/** `timeoutMs`: how long the opening of a session may take for all who wait for it. */
export function serverConnection(
  server: ToolServer,
  { transport, timers, defer, gateway }: Connecting,
  timeoutMs: () => number = () => server.timeoutMs,
): ServerConnection {
  const end = { server, transport, via: gateway }
  let session: ServerSession | undefined
  let opening: Promise<ServerSession> | undefined
  let ids = 0

  function background(work: (signal: Abort) => Promise<void>): Promise<void> {
    const late = () => failureOf(server, 'timeout', 'did not take leave in time')
    // It is told out of courtesy.
    const told = within({ ms: FAREWELL_MS, late, timers }, work).catch(() => {})
    defer?.(told)
    return told
  }

  async function opened(signal: Abort): Promise<ServerSession> {
    if (session) return session
    if (defer) return open(signal)
    if (!opening) {
      const ms = timeoutMs()
      const late = () => failureOf(server, 'timeout', `did not answer within ${ms} ms`)
      opening = within({ ms, late, timers }, open).finally(() => {
        opening = undefined
      })
      opening.catch(() => {})
    }
    return unlessAborted(opening, signal)
  }

  async function open(signal: Abort): Promise<ServerSession> {
    const made = await openSession(end, () => ++ids, signal)
    // Another request may have been quicker.
    if (session) {
      void farewell(made)
      return session
    }
    session = made
    return made
  }

  function farewell(left: ServerSession): Promise<void> {
    return left.id === undefined ? Promise.resolve() : background((signal) => hangUp({ ...end, session: left }, signal))
  }

  async function asked(
    current: ServerSession,
    { method, params, mirrors, heard, via }: Question,
    signal: Abort,
  ): Promise<JsonRecord> {
    const id = ++ids
    const asking = { ...end, session: current, via: viaWith(via, gateway) }
    try {
      const listener = heard && ((notified: string, told: JsonRecord) => heard(notified, told, id))
      return (await ask(asking, { id, method, params: params(id), ...(mirrors ? { mirrors } : {}) }, signal, listener))
        .result
    } catch (error) {
      // A server without sessions sees that nobody waits by the connection, which is closed.
      if (signal.aborted && !isStateless(current)) {
        const cancelled = {
          method: 'notifications/cancelled',
          params: { requestId: id, reason: 'Nobody waits for it.' },
        }
        void background((signal) => tell(asking, cancelled, signal))
      }
      throw error
    }
  }

  return {
    session: () => session,
    async request(question, signal) {
      const known = await opened(signal)
      try {
        return await asked(known, question, signal)
      } catch (error) {
        if (!(error instanceof SessionLost)) throw error
      }
      // What was asked in a session that is not known was not done.
      if (session === known) session = undefined
      try {
        return await asked(await opened(signal), question, signal)
      } catch (error) {
        if (!(error instanceof SessionLost)) throw error
        throw failureOf(server, 'protocol', 'forgets its sessions at once', { cause: error })
      }
    },
    async end() {
      const left = session
      session = undefined
      if (left) await farewell(left)
    },
  }
}
