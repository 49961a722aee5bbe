import { connect } from 'node:net'
import type { AnswerSource, IncomingAnswer } from '../incoming-answer.node.ts'
import { ADDRESS_MS, sharedLookup } from '../shared-lookup.node.ts'
import { TransportError } from '../transport.ts'
import { answerReader } from './answer-reader.node.ts'

const CONNECT_MS = 10_000
/** How long a connection rests whose upstream says nothing of it. */
const REST_MS = 30_000
/** A request does not leave so shortly before its upstream closes the connection. */
const MARGIN_MS = 2000
/** All connections are read into it, one read after the other: a connection that is paused holds nothing, while a stream
 *  of Node would read on into a buffer of its own. */
const ARRIVING = Buffer.allocUnsafeSlow(65_536)
/** A shorter request is sent as one piece: to copy it costs less than to send two. */
const SHORT_BYTES = 16_384

/** A request that is to be sent. */
export interface Sending {
  readonly head: string
  readonly body: readonly Uint8Array[]
  readonly bodyBytes: number
  /** It is told all that comes of the request. */
  readonly answer: IncomingAnswer
}

/** A connection, which serves one request at a time. */
export interface Http1Connection extends AnswerSource {
  send(sending: Sending): void
}

/** The connections to one origin. */
export interface Pool {
  readonly origin: string
  readonly host: string
  readonly port: number
  readonly all: Set<Http1Connection>
  /** Those that serve nobody; the last one was used last. */
  readonly resting: Http1Connection[]
}

export function openConnection({ origin, host, port, all, resting }: Pool): Http1Connection {
  const onread = {
    buffer: ARRIVING,
    callback(length: number) {
      arrived(ARRIVING.subarray(0, length))
      return true
    },
  }
  const kept = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
  const addresses = { lookup: sharedLookup, autoSelectFamilyAttemptTimeout: ADDRESS_MS }
  const socket = connect({ host, port, ...kept, ...addresses, onread })
  const reader = answerReader()
  let answer: IncomingAnswer | undefined
  const opening = setTimeout(() => leave('CONNECT_TIMEOUT'), CONNECT_MS)
  socket.once('connect', () => clearTimeout(opening))
  socket.setTimeout(REST_MS)
  socket.on('timeout', () => answer ?? leave())

  /** Parts the answer from the connection, which may serve another one. */
  function parted(): IncomingAnswer | undefined {
    const current = answer
    answer = undefined
    if (current) current.source = undefined
    return current
  }
  function leave(code = 'CLOSED', cause?: unknown): void {
    clearTimeout(opening)
    all.delete(connection)
    if (resting.includes(connection)) resting.splice(resting.indexOf(connection), 1)
    socket.destroy()
    parted()?.fail(new TransportError(`the connection to ${origin} failed: ${code}`, { cause }))
  }
  function leaveFor(error: Error & { readonly code?: string }): void {
    leave(error.code ?? error.name, error)
  }
  function arrived(bytes: Buffer): void {
    // Nobody has asked for it: it must not be taken for the next answer.
    if (!answer) {
      leave()
      return
    }
    try {
      const behind = reader.read(bytes)
      if (behind === undefined || !answer) return
      const whole = parted()
      const rest = (reader.kept()?.seconds ?? Number.NaN) * 1000 - MARGIN_MS
      if (!reader.kept() || rest <= 0 || behind > 0 || socket.writableLength > 0) leave()
      else {
        if (socket.isPaused()) socket.resume()
        if (rest < REST_MS && socket.timeout !== rest) socket.setTimeout(rest)
        socket.unref()
        resting.push(connection)
      }
      whole?.end()
    } catch (error) {
      leaveFor(error as Error)
    }
  }
  socket.on('end', () => {
    if (answer && reader.endsHere()) parted()?.end()
    leave()
  })
  socket.on('error', leaveFor)
  socket.on('close', () => leave())

  const connection: Http1Connection = {
    send(sending) {
      answer = sending.answer
      answer.source = connection
      reader.begin(answer)
      socket.ref()
      if (sending.bodyBytes <= SHORT_BYTES) socket.write(inOnePiece(sending))
      else {
        socket.cork()
        socket.write(sending.head, 'latin1')
        for (const piece of sending.body) socket.write(piece)
        socket.uncork()
      }
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    abort(reason) {
      parted()?.fail(reason)
      leave()
    },
  }
  all.add(connection)
  return connection
}

function inOnePiece({ head, body, bodyBytes }: Sending): Buffer {
  const whole = Buffer.allocUnsafe(head.length + bodyBytes)
  let at = whole.write(head, 'latin1')
  for (const piece of body) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}
