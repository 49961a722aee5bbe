import type { Socket } from 'node:net'
import { afterReads } from '../../../../lib/timers/after-reads.node.ts'
import type { Listener } from '../messages.node.ts'
import { KEPT_SECONDS, type PlainAnswer, plainAnswer } from './plain-answer.node.ts'
import { LONGEST_BYTES, readRequest } from './read-request.node.ts'

/** How long a request may take to arrive as a whole, and in how many pieces, before Node receives the rest. */
const PATIENCE_SECONDS = 1
const MOST_PIECES = 8
/** How long a client that has connected may say nothing. */
const SILENT_SECONDS = 60

export interface PlainConnection {
  /** Whether it waits for a next request, nothing of which has come, and did when it was asked before. */
  isStillIdle(): boolean
  /** To be called every second. */
  look(): void
}

/** What a connection needs of its server. */
export interface Means {
  readonly listener: Listener
  /** Called when the connection is none any more: it is closed, or Node's. */
  readonly gone: (connection: PlainConnection) => void
  /** Gives the socket to Node for good. */
  readonly giveAway: (socket: Socket) => void
  /** Answers a client that has sent no request, and ends its connection. */
  readonly refuse: (socket: Socket, code: string) => void
}

/** Reads the plain requests of a connection, one after the other. With the first that is not plain, or does not come at
 *  once, the connection becomes Node's. */
export function plainConnection(socket: Socket, { listener, gone, giveAway, refuse }: Means): PlainConnection {
  let answer: PlainAnswer | undefined
  /** What has come of the next request. */
  let came: Buffer | undefined
  let pieces = 0
  let quietSeconds = 0
  let wasIdle = false

  function arrived(bytes: Buffer): void {
    quietSeconds = 0
    wasIdle = false
    came = came ? Buffer.concat([came, bytes]) : bytes
    if (!answer) takeNext()
    else if (came.length > LONGEST_BYTES) socket.pause()
  }

  function takeNext(): void {
    if (!came) return
    const request = readRequest(came, socket)
    if (request === 'incomplete') {
      pieces += 1
      if (pieces > MOST_PIECES) leave()
    } else if (request === 'other') leave()
    else {
      came = request.bytes < came.length ? came.subarray(request.bytes) : undefined
      pieces = 0
      const { incoming } = request
      const asked = plainAnswer(incoming, socket, answered)
      answer = asked
      // Who has left by then asks for nothing.
      afterReads(() => socket.destroyed || listener(incoming, asked))
    }
  }

  function answered(isLast: boolean): void {
    answer = undefined
    quietSeconds = 0
    if (isLast) socket.destroySoon()
    else {
      if (socket.isPaused()) socket.resume()
      takeNext()
    }
  }

  function leave(): void {
    const bytes = came
    came = undefined
    for (const [event, told] of events) socket.off(event, told)
    gone(connection)
    giveAway(socket)
    if (bytes) socket.emit('data', bytes)
  }

  function ended(): void {
    // As Node does, also where an answer is awaited.
    if (came && !answer) refuse(socket, 'HPE_INVALID_EOF_STATE')
    else socket.end()
  }

  function closed(): void {
    gone(connection)
    answer?.left()
  }

  const events = [
    ['data', arrived],
    ['drain', () => answer?.drained()],
    ['end', ended],
    // The event `close` follows.
    ['error', nothing],
    ['close', closed],
  ] as const
  for (const [event, told] of events) socket.on(event, told)

  const connection: PlainConnection = {
    isStillIdle() {
      const isIdle = !answer && !came && socket.bytesRead > 0
      const isStill = isIdle && wasIdle
      wasIdle = isIdle
      return isStill
    },
    look() {
      if (answer) return
      quietSeconds += 1
      if (came) {
        if (quietSeconds > PATIENCE_SECONDS) leave()
      } else if (socket.bytesRead === 0) {
        if (quietSeconds === SILENT_SECONDS) refuse(socket, 'ERR_HTTP_REQUEST_TIMEOUT')
      } else if (quietSeconds > KEPT_SECONDS) socket.destroy()
    },
  }
  return connection
}

function nothing(): void {}
