import type { Socket } from 'node:net'
import { hasBody } from '../../../../api/respond.ts'
import { HEADER_NAME, HEADER_VALUE } from '../../../../lib/bytes/header-text.ts'
import { afterReads } from '../../../../lib/timers/after-reads.node.ts'
import type { Incoming, OutgoingAnswer } from '../messages.node.ts'
import { dateNow } from './date-now.node.ts'

// Importing node:http would also load Node's fetch and WebSocket, which are not used: 40 ms.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** How long a connection is kept for the next request, as clients are told. */
export const KEPT_SECONDS = 75
const KEPT = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEPT_SECONDS}\r\n`
const LAST = 'Connection: close\r\n'
/** Shorter bytes are joined with what stands around them: to copy them costs less than to send several pieces. */
const SHORT_BYTES = 16_384

type Event = 'close' | 'drain' | 'finish'
type Written = (error: Error | null | undefined) => void

interface Listening {
  readonly event: Event
  readonly listener: () => void
  readonly once: boolean
}

export interface PlainAnswer extends OutgoingAnswer {
  /** Tells it that the socket has room again. */
  drained(): void
  /** Tells it that the socket is closed. */
  left(): void
}

interface State extends PlainAnswer {
  readonly socket: Socket
  /** Called when all of it is sent. `isLast`: the connection ends with it. */
  readonly sent: (isLast: boolean) => void
  closed: boolean
  destroyed: boolean
  headersSent: boolean
  writableFinished: boolean
  /** The head, until anything is sent. */
  head: string
  isChunked: boolean
  isLast: boolean
  isEnded: boolean
  listeners: Listening[] | undefined
}

/** An answer that is written to its socket itself, as Node's ServerResponse writes it. */
export function plainAnswer(req: Incoming, socket: Socket, sent: (isLast: boolean) => void): PlainAnswer {
  // The functions are shared by all answers, so that one costs a single object.
  const answer: State = {
    req,
    socket,
    sent,
    closed: false,
    destroyed: false,
    headersSent: false,
    writableFinished: false,
    // All that waits, waits in the socket.
    writableLength: 0,
    shouldKeepAlive: true,
    head: '',
    isChunked: false,
    isLast: false,
    isEnded: false,
    joinsBytes: true,
    listeners: undefined,
    writeHead,
    flushHeaders,
    write,
    end,
    destroy,
    on,
    once,
    drained,
    left,
  }
  return answer
}

function writeHead(this: State, status: number, headers: Record<string, string | string[]>): void {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
  for (const name in headers) {
    const value = headers[name] as string | string[]
    if (typeof value === 'string') head += line(name, value)
    else for (const one of value) head += line(name, one)
  }
  this.isLast = !this.shouldKeepAlive
  this.isChunked = hasBody(status) && headers['content-length'] === undefined
  const coding = this.isChunked ? 'Transfer-Encoding: chunked\r\n' : ''
  this.head = `${head}Date: ${dateNow()}\r\n${this.isLast ? LAST : KEPT}${coding}\r\n`
  this.headersSent = true
}

function line(name: string, value: string): string {
  if (!isName(name) || !HEADER_VALUE.test(value)) throw new TypeError(`the header '${name}' cannot be sent`)
  return `${name}: ${value}\r\n`
}

/** Names that were looked at before: an answer has a dozen, and they are few. */
const names = new Set<string>()
const MOST_NAMES = 256

function isName(name: string): boolean {
  if (names.has(name)) return true
  if (!HEADER_NAME.test(name)) return false
  if (names.size < MOST_NAMES) names.add(name)
  return true
}

/** What is to be sent first. */
function headOf(answer: State): string {
  const { head } = answer
  answer.head = ''
  return head
}

function flushHeaders(this: State): void {
  this.socket.write(headOf(this), 'latin1')
}

function write(this: State, piece: Uint8Array, written?: Written): boolean {
  const { socket } = this
  // By now the socket may be another answer's.
  if (this.isEnded) {
    if (written) process.nextTick(written, new Error('the answer has ended'))
    return false
  }
  const isFramed = this.isChunked && piece.byteLength > 0
  const start = isFramed ? `${headOf(this)}${piece.byteLength.toString(16)}\r\n` : headOf(this)
  const end = isFramed ? '\r\n' : ''
  if (start === '') return socket.write(piece, written)
  // A stream brings one piece in a turn: there is nothing to wait for.
  if (piece.byteLength <= SHORT_BYTES) return socket.write(joined(start, piece, end), written)
  socket.cork()
  socket.write(start, 'latin1')
  socket.write(piece)
  const hasRoom = socket.write(end, 'latin1', written)
  socket.uncork()
  return hasRoom
}

function joined(start: string, bytes: Uint8Array, end = ''): Buffer {
  const whole = Buffer.allocUnsafe(start.length + bytes.byteLength + end.length)
  whole.write(start, 'latin1')
  whole.set(bytes, start.length)
  if (end !== '') whole.write(end, start.length + bytes.byteLength, 'latin1')
  return whole
}

function end(this: State, last: Uint8Array | string = '', encoding?: 'latin1'): void {
  if (this.isEnded) return
  const { socket } = this
  const sent = (error?: Error | null) => {
    if (!error) finish(this)
  }
  const bytes = typeof last === 'string' ? Buffer.from(last, encoding) : last
  if (this.isChunked && bytes.byteLength > 0) this.write(bytes)
  this.isEnded = true
  if (this.isChunked) socket.write(`${headOf(this)}0\r\n\r\n`, 'latin1', sent)
  else if (bytes.byteLength <= SHORT_BYTES) {
    const whole = joined(headOf(this), bytes)
    afterReads(() => socket.write(whole, sent))
  } else {
    socket.cork()
    socket.write(headOf(this), 'latin1')
    socket.write(bytes, sent)
    socket.uncork()
  }
}

function finish(answer: State): void {
  if (answer.closed) return
  answer.writableFinished = true
  emit(answer, 'finish')
  close(answer)
  answer.sent(answer.isLast)
}

function left(this: State): void {
  if (!this.closed) close(this)
}

function close(answer: State): void {
  answer.closed = true
  answer.destroyed = true
  emit(answer, 'close')
}

function destroy(this: State): void {
  if (this.destroyed) return
  this.destroyed = true
  this.socket.destroy()
}

function on(this: State, event: Event, listener: () => void): void {
  listen(this, { event, listener, once: false })
}

function once(this: State, event: Event, listener: () => void): void {
  listen(this, { event, listener, once: true })
}

function listen(answer: State, listening: Listening): void {
  if (answer.listeners) answer.listeners.push(listening)
  else answer.listeners = [listening]
}

function drained(this: State): void {
  emit(this, 'drain')
}

function emit(answer: State, event: Event): void {
  const { listeners } = answer
  if (!listeners) return
  answer.listeners = listeners.filter((one) => !one.once || one.event !== event)
  for (const one of listeners) if (one.event === event) one.listener()
}
